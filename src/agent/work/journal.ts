import type { Lease } from "../../coordination/index.ts";
import type { KubeClient, UpdateOutcome } from "../../kube/index.ts";
import { type CodingTask, type CodingTaskStatus, codingTasks } from "../../resources/index.ts";
import { isClosed } from "../snapshot.ts";
import { iso } from "../statuses.ts";
import { type Redact, redactedStatus } from "./redacted.ts";

/** Somebody else works on the task by now, or it is gone: whatever we were about to do is not ours to do. */
export class TaskTaken extends Error {
  override readonly name = "TaskTaken";
}

type Result = Readonly<Record<string, string>>;

/**
 * The task's own record of how far the work on it has come. A step is done once and remembered, over crashes and from
 * replica to replica; what a step brings about has to be recognisable, because a process may die before it is
 * remembered. Every write is conditional: a holder that was paused finds that it is one no more.
 */
export class Journal {
  readonly #client: KubeClient;
  readonly #lease: Pick<Lease, "assertHeld">;
  readonly #redact: Redact;
  #task: CodingTask;

  constructor(client: KubeClient, task: CodingTask, lease: Pick<Lease, "assertHeld">, redact: Redact) {
    this.#client = client;
    this.#redact = redact;
    this.#lease = lease;
    this.#task = task;
  }

  get task(): CodingTask {
    return this.#task;
  }

  /** What an earlier step brought about, if it was done. */
  resultOf(step: string): Result | undefined {
    const found = this.#task.status?.steps?.find(({ name }) => name === step);
    return found && (found.result ?? {});
  }

  /** Does a step unless it was done, and remembers what it brought about. */
  async step(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.resultOf(name);
    if (before) return before;
    const result = await work();
    await this.record(name, result);
    return result;
  }

  /** Remembers a step, in place of what was remembered of it before. */
  async record(name: string, result: Result): Promise<void> {
    const completedAt = iso(this.#client.serverNowMs());
    await this.write((task) => {
      if (!task.status) throw new TypeError("a task that was not begun has no steps");
      const steps = (task.status.steps ?? []).filter((step) => step.name !== name);
      return { ...task.status, steps: [...steps, { name, completedAt, result }] };
    });
  }

  /** Puts the task into its next state. */
  async write(next: (task: CodingTask) => CodingTaskStatus): Promise<void> {
    const mine = this.#task.status?.attempts;
    for (;;) {
      const status = await redactedStatus(next(this.#task), this.#redact);
      this.#lease.assertHeld();
      const wanted: CodingTask = { ...this.#task, status };
      const outcome = await this.#client.update(codingTasks, wanted, { subresource: "status" });
      if (outcome.kind === "updated") {
        this.#task = outcome.object;
        return;
      }
      await this.#lookAgain(outcome, mine);
    }
  }

  /** It was changed meanwhile: a request to cancel is fine, another try at it is not. */
  async #lookAgain(outcome: UpdateOutcome<CodingTask>, attempts: number | undefined) {
    const { name = "", namespace = "", uid } = this.#task.metadata;
    const current = outcome.kind === "not-found" ? undefined : await this.#client.get(codingTasks, { name, namespace });
    if (!current || current.metadata.uid !== uid) throw new TaskTaken(`${name} is gone`);
    if (isClosed(current) || current.status?.attempts !== attempts) throw new TaskTaken(`${name} is another's by now`);
    this.#task = current;
  }
}
