import { type Call, type KubeClient, KubeError } from "../../kube/index.ts";
import { type CodingTask, codingTasks } from "../coding-task.ts";
import { taskName } from "./draft-task.ts";

export interface TaskCreated {
  readonly task: CodingTask;
  /** Nobody had made it before. */
  readonly isNew: boolean;
}

const maxTries = 20;

/**
 * Makes a task, unless it is there. A review that was passed over for a newer commit does not count: if its commit is
 * reported again it is the head again, after the newer one was taken back.
 */
export async function createTask(client: KubeClient, task: CodingTask, call: Call = {}): Promise<TaskCreated> {
  let wanted = task;
  for (let tries = 0; tries < maxTries; tries++) {
    const outcome = await client.create(codingTasks, wanted, call);
    if (outcome.kind === "created") return { task: outcome.object, isNew: true };
    const { name = "", namespace = "" } = wanted.metadata;
    const known = await client.get(codingTasks, { name, namespace }, call);
    if (known?.status?.phase !== "Superseded") {
      if (known) return { task: known, isNew: false };
      continue;
    }
    wanted = renamed(task, `${known.spec.claimKey}:after:${known.status.supersededBy}`);
  }
  throw new KubeError("unavailable", `the task ${wanted.metadata.name} comes and goes`);
}

function renamed({ metadata, spec, ...rest }: CodingTask, claimKey: string): CodingTask {
  return { ...rest, metadata: { ...metadata, name: taskName(claimKey) }, spec: { ...spec, claimKey } };
}
