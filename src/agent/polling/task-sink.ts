import { type KubeClient, KubeError } from "../../kube/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import {
  type CodingTask,
  createTask,
  draftTask,
  type IgnoredReport,
  reportIgnored,
  subjectName,
  type TaskDraft,
  taskReceived,
} from "../../resources/index.ts";
import type { Logger } from "../../telemetry/index.ts";

/** Where polled things become tasks. */
export interface TaskSink {
  /** The API server's clock. */
  now(): string;
  /** Resolves when the task is there and on record, by us or by whoever was faster. `refused`: it cannot be a task. */
  offer(draft: TaskDraft): Promise<"there" | { readonly refused: string }>;
  /** Resolves when it is on record that this becomes no task. What a poll finds again is recorded once. */
  ignore(report: Pick<IgnoredReport, "subject" | "reason" | "because">): Promise<void>;
}

export interface TaskSinkOptions {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  /** Where tasks live. */
  readonly namespace: string;
  readonly log: Logger;
}

/** How many tasks are remembered as told. What is forgotten is told again, which is harmless. */
const maxKnown = 10_000;

export function taskSink({ client, ledger, namespace, log }: TaskSinkOptions): TaskSink {
  const known = new Set<string>();
  const ignored = new Set<string>();

  async function keep(draft: CodingTask): Promise<"there" | { readonly refused: string }> {
    const outcome = await createTask(client, draft).catch((error: unknown) => {
      if (error instanceof KubeError && error.code === "invalid") return error;
      throw error;
    });
    if (outcome instanceof KubeError) return { refused: outcome.message };
    const { task, isNew } = outcome;
    const { name = "" } = task.metadata;
    if (isNew) log.info("task received", { task: name, claimKey: task.spec.claimKey });
    // Its maker may have died before it was on record; told twice is told once.
    if (!known.has(name)) await ledger.append(taskReceived(task));
    if (known.size >= maxKnown) known.clear();
    known.add(name);
    return "there";
  }

  return {
    async ignore({ subject, reason, because }) {
      const key = JSON.stringify([subjectName(subject), subject.headSha, subject.noteId, reason]);
      if (ignored.has(key)) return;
      const at = new Date(client.serverNowMs()).toISOString();
      await ledger.append(reportIgnored({ subject, reason, because, source: "poll", at }));
      if (ignored.size >= maxKnown) ignored.clear();
      ignored.add(key);
    },
    now: () => new Date(client.serverNowMs()).toISOString(),
    async offer(draft) {
      const reading = draftTask(draft, namespace);
      if (reading.kind === "problem") return { refused: `its branch ${reading.problem}` };
      return keep(reading.task);
    },
  };
}
