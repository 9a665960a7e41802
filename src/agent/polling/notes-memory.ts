import { instantMs } from "../../coordination/index.ts";
import type { MergeRequest } from "../gitlab/gitlab.ts";

/** GitLab leaves `updated_at` as it is when something happens so soon after the last change. */
export const touchThrottleMs = 60_000;

/**
 * Which merge requests have no notes that were not read. It only saves requests: what it forgets is read again.
 *
 * Notes that come more than 60 s after the last change of a merge request change it again. Earlier ones may be there
 * without a sign, and become visible an overlap late. So when they were read after both have passed, there are no others
 * as long as `updated_at` stays what it is.
 */
export class NotesMemory {
  readonly #overlapMs: number;
  /** By number, the `updated_at` for which everything was read. */
  #read = new Map<number, number>();

  constructor(overlapMs: number) {
    this.#overlapMs = overlapMs;
  }

  hasAll({ iid, updatedAt }: MergeRequest): boolean {
    return this.#read.get(iid) === instantMs(updatedAt);
  }

  /** The notes were read, and are finished. `serverDate` is from before. */
  read({ iid, updatedAt }: MergeRequest, serverDate: Date): void {
    const updatedMs = instantMs(updatedAt);
    const isOver = serverDate.getTime() > updatedMs + touchThrottleMs + this.#overlapMs;
    if (isOver) this.#read.set(iid, updatedMs);
  }

  /** Forgets all but these. */
  keep(items: readonly MergeRequest[]): void {
    const listed = new Set(items.map(({ iid }) => iid));
    this.#read = new Map([...this.#read].filter(([iid]) => listed.has(iid)));
  }
}
