import type { Lease } from "../../coordination/index.ts";
import { iso, type KubeClient, type UpdateOutcome } from "../../kube/index.ts";
import { type CodingTask, type CodingTaskStatus, codingTasks, isClosedTask } from "../../resources/index.ts";
import { type Redact, redactedStatus } from "./redacted.ts";

/** Another replica works on the task, or the task is deleted: this attempt must not write. */
export class TaskTaken extends Error {
  override readonly name = "TaskTaken";
}

type Result = Readonly<Record<string, string>>;

interface ProgressDeps {
  readonly client: KubeClient;
  readonly lease: Pick<Lease, "assertHeld">;
  readonly redact: Redact;
}

/**
 * The steps of a task, stored in its status. A step is done once, across crashes and replicas. Its effect has to be
 * recognisable, because the process may die before the step is recorded. Every write is conditional, so a former lock
 * holder cannot write.
 */
export class TaskProgress {
  readonly #deps: ProgressDeps;
  #task: CodingTask;

  constructor(task: CodingTask, deps: ProgressDeps) {
    this.#task = task;
    this.#deps = deps;
  }

  get task(): CodingTask {
    return this.#task;
  }

  /** Including the current one. */
  get attempts(): number {
    return this.#task.status?.attempts ?? 0;
  }

  /** False: a reply of an earlier attempt may announce work, so the end has to be reported there. */
  get isFirstAttempt(): boolean {
    return this.attempts <= 1;
  }

  /** Returns the result of an earlier step; undefined if it was not done. */
  resultOf(step: string): Result | undefined {
    const found = this.#task.status?.steps?.find(({ name }) => name === step);
    return found && (found.result ?? {});
  }

  /** Does a step unless it was done, and records its result. */
  async step(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.resultOf(name);
    if (before) return before;
    const result = await work();
    await this.record(name, result);
    return result;
  }

  /** Records a step, in place of its former record. */
  async record(name: string, result: Result): Promise<void> {
    const completedAt = iso(this.#deps.client.serverNowMs());
    await this.write((task) => {
      if (!task.status) throw new TypeError("a task that has not started has no steps");
      const steps = (task.status.steps ?? []).filter((step) => step.name !== name);
      return { ...task.status, steps: [...steps, { name, completedAt, result }] };
    });
  }

  /** Writes the next status of the task. */
  async write(next: (task: CodingTask) => CodingTaskStatus): Promise<void> {
    const { client, lease, redact } = this.#deps;
    const { attempts } = this.#task.status ?? {};
    for (;;) {
      const status = await redactedStatus(next(this.#task), redact);
      lease.assertHeld();
      const outcome = await client.update(codingTasks, { ...this.#task, status }, { subresource: "status" });
      if (outcome.kind === "updated") {
        this.#task = outcome.object;
        return;
      }
      this.#task = await this.#readChanged(outcome, attempts);
    }
  }

  /** Reads the changed task: a cancel request is fine, another attempt is not. */
  async #readChanged(outcome: UpdateOutcome<CodingTask>, attempts: number | undefined): Promise<CodingTask> {
    const { name = "", namespace = "", uid } = this.#task.metadata;
    const { client } = this.#deps;
    const current = outcome.kind === "not-found" ? undefined : await client.get(codingTasks, { name, namespace });
    if (!current || current.metadata.uid !== uid) throw new TaskTaken(`${name} is deleted`);
    if (isClosedTask(current) || current.status?.attempts !== attempts) {
      throw new TaskTaken(`another replica works on ${name}`);
    }
    return current;
  }
}
