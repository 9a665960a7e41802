import type { Tally } from "./tally.ts";

/** Port: keeps counts until the API server has them. */
export interface OccurrenceJournal {
  /** What an earlier process has left. */
  readonly left: readonly Tally[];
  /** Resolves when all that `tallies` say now is durable. Throws GatewayError `unavailable` if it may not be. */
  keep(tallies: Iterable<Tally>): Promise<void>;
  /** The incident's status has what `tally` says; sooner or later that is kept, too. */
  settle(tally: Tally): void;
  close(): Promise<void>;
}
