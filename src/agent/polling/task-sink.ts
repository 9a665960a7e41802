import { type KubeClient, KubeError } from "../../kube/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { type CodingTask, codingTasks, draftTask, type TaskDraft, taskReceived } from "../../resources/index.ts";
import type { Logger } from "../../telemetry/index.ts";

/** Where polled things become tasks. */
export interface TaskSink {
  /** The API server's clock. */
  now(): string;
  /** Resolves when the task is there and on record, by us or by whoever was faster. `refused`: it cannot be a task. */
  offer(draft: TaskDraft): Promise<"there" | { readonly refused: string }>;
}

export interface TaskSinkOptions {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  /** Where tasks live. */
  readonly namespace: string;
  readonly log: Logger;
}

/** How many tasks are remembered as told. What is forgotten is offered again, and found to be there. */
const mostKnown = 10_000;

export function taskSink({ client, ledger, namespace, log }: TaskSinkOptions): TaskSink {
  const known = new Set<string>();

  async function keep(task: CodingTask): Promise<"there" | { readonly refused: string }> {
    const { name = "" } = task.metadata;
    const outcome = await client.create(codingTasks, task).catch((error: unknown) => {
      if (error instanceof KubeError && error.code === "invalid") return error;
      throw error;
    });
    if (outcome instanceof KubeError) return { refused: outcome.message };
    if (outcome.kind === "created") log.info("task received", { task: name, claimKey: task.spec.claimKey });
    // Its maker may have died before it was on record; told twice is told once.
    const there = outcome.kind === "created" ? outcome.object : await client.get(codingTasks, { name, namespace });
    if (there) await ledger.append(taskReceived(there));
    if (known.size >= mostKnown) known.clear();
    known.add(name);
    return "there";
  }

  return {
    now: () => new Date(client.serverNowMs()).toISOString(),
    async offer(draft) {
      const reading = draftTask(draft, namespace);
      if (reading.kind === "problem") return { refused: `its branch ${reading.problem}` };
      return known.has(reading.task.metadata.name ?? "") ? "there" : keep(reading.task);
    },
  };
}
