import type { ReportSubject, TaskDraft, TaskIntake } from "../../tasks/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { isRemoteError } from "../remote-error.ts";

/** How often an item may fail before it is abandoned. */
const maxTries = 3;

/**
 * Turns polled items into tasks, and abandons an item that keeps failing, so that it does not block the rest. Errors that
 * concern all items are thrown, and do not count.
 */
export class ItemIntake {
  readonly #intake: TaskIntake;
  readonly #log: Logger;
  readonly #tries = new Map<string, number>();

  constructor(intake: TaskIntake, log: Logger) {
    this.#intake = intake;
    this.#log = log;
  }

  isAbandoned(id: string): boolean {
    return (this.#tries.get(id) ?? 0) >= maxTries;
  }

  /** Reads an item, or a part of it. `unreadable`: `finished` is whether it is gone or abandoned. */
  async read<T>(
    id: string,
    read: () => Promise<T>,
  ): Promise<{ kind: "read"; value: T } | { kind: "unreadable"; finished: boolean }> {
    try {
      return { kind: "read", value: await read() };
    } catch (error) {
      if (isRemoteError(error, "missing")) return { kind: "unreadable", finished: true };
      if (!isRemoteError(error, "refused")) throw error;
      return { kind: "unreadable", finished: this.#countFailure(id, error.message) };
    }
  }

  /** Creates the task of an item. Returns whether the item is processed: it has a task, or is abandoned. */
  async create(id: string, draft: TaskDraft, subject: ReportSubject): Promise<boolean> {
    const creation = await this.#intake.create(draft);
    if (creation.kind !== "refused") return true;
    if (!this.#countFailure(id, creation.problem)) return false;
    const because = `it cannot become a task: ${creation.problem}`;
    await this.#intake.recordIgnored({ subject, reason: "Unreadable", because, source: "poll" });
    return true;
  }

  /** Returns whether the item is abandoned from now on. */
  #countFailure(id: string, problem: string): boolean {
    const tries = (this.#tries.get(id) ?? 0) + 1;
    this.#tries.set(id, tries);
    if (tries === maxTries) this.#log.error("poll item abandoned", { item: id, tries, problem });
    return tries >= maxTries;
  }
}
