import { type KubeClient, refOf, type UpdateOutcome } from "../../../kube/index.ts";
import { type PipelineRun, pipelineRuns, type TaskRun, taskRuns } from "../../tekton/pipeline-run.ts";

/** The TaskRuns of one run in the API server. */
export class TaskRuns {
  readonly #client: KubeClient;
  /** By name: the last written object, and the content for which it was written. */
  readonly #written = new Map<string, { readonly object: TaskRun; readonly text: string }>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  isWritten(wanted: TaskRun): boolean {
    return this.#written.get(wanted.metadata.name ?? "")?.text === contentText(wanted);
  }

  async write(wanted: TaskRun): Promise<void> {
    if (this.isWritten(wanted)) return;
    const { name = "" } = wanted.metadata;
    let object = this.#written.get(name)?.object ?? (await this.#findOrCreate(wanted));
    if (wanted.spec.status !== object.spec.status) {
      const { status, statusMessage } = wanted.spec;
      const patch = { merge: { spec: { status, statusMessage } } };
      object = writtenObject(await this.#client.patch(taskRuns, refOf(wanted), patch));
    }
    this.#written.delete(name);
    const next = { ...object, status: wanted.status } as TaskRun;
    object = writtenObject(await this.#client.update(taskRuns, next, { subresource: "status" }));
    this.#written.set(name, { object, text: contentText(wanted) });
  }

  /** Returns the existing TaskRun or a new one. One of an earlier run of the same name is deleted; the error causes a retry. */
  async #findOrCreate(wanted: TaskRun): Promise<TaskRun> {
    const { name = "", namespace = "", ownerReferences = [] } = wanted.metadata;
    const { status: _, ...fresh } = wanted;
    const created = await this.#client.create(taskRuns, fresh as TaskRun);
    if (created.kind === "created") return created.object;

    const found = await this.#client.get(taskRuns, refOf(wanted));
    if (found?.metadata.ownerReferences?.some(({ uid }) => uid === ownerReferences[0]?.uid)) return found;
    const { uid } = found?.metadata ?? {};
    if (uid) await this.#client.delete(taskRuns, refOf(wanted), { preconditions: { uid } });
    throw new Error(`TaskRun ${namespace}/${name} belongs to an earlier run`);
  }
}

/** Writes the status of the run if it has the version that was read. Otherwise the outcome is not `updated`: read it again. */
export async function writeRunStatus(client: KubeClient, run: PipelineRun, status: PipelineRun["status"]) {
  const next = { ...run, ...(status && { status }) };
  return await client.update(pipelineRuns, next, { subresource: "status" });
}

function writtenObject(outcome: UpdateOutcome<TaskRun>): TaskRun {
  if (outcome.kind === "updated") return outcome.object;
  throw new Error(outcome.kind === "conflict" ? outcome.message : "the TaskRun was deleted while it was written");
}

function contentText({ spec, status }: TaskRun): string {
  return JSON.stringify([spec.status, status]);
}
