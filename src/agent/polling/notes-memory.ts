import { instantMs } from "../../coordination/index.ts";
import type { MergeRequest } from "../gitlab/gitlab.ts";

/** GitLab does not update `updated_at` again within this time after a change. */
export const touchThrottleMs = 60_000;

/**
 * Remembers the merge requests whose notes are all read. It only saves requests: a forgotten one is read again.
 *
 * A note that comes more than 60 s after the last change of a merge request changes it again. An earlier one may leave
 * no trace, and may become visible an overlap late. So notes that are read after both have passed are complete as long
 * as `updated_at` does not change.
 */
export class NotesMemory {
  readonly #overlapMs: number;
  /** By number, the `updated_at` for which all notes are read. */
  #read = new Map<number, number>();

  constructor(overlapMs: number) {
    this.#overlapMs = overlapMs;
  }

  hasAll({ iid, updatedAt }: MergeRequest): boolean {
    return this.#read.get(iid) === instantMs(updatedAt);
  }

  /** Records that all notes are processed. `serverDate` is from before they were read. */
  read({ iid, updatedAt }: MergeRequest, serverDate: Date): void {
    const updatedMs = instantMs(updatedAt);
    const isOver = serverDate.getTime() > updatedMs + touchThrottleMs + this.#overlapMs;
    if (isOver) this.#read.set(iid, updatedMs);
  }

  /** Forgets all other merge requests. */
  keep(items: readonly MergeRequest[]): void {
    const listed = new Set(items.map(({ iid }) => iid));
    this.#read = new Map([...this.#read].filter(([iid]) => listed.has(iid)));
  }
}
