import type { Tally } from "./tally.ts";

/** Port: keeps counts until the API server has them. */
export interface OccurrenceLog {
  /** The counts of an earlier process that the API server may not have. */
  readonly left: readonly Tally[];
  /** Resolves when the current state of all `tallies` is durable. Throws GatewayError `unavailable` if it may not be. */
  keep(tallies: Iterable<Tally>): Promise<void>;
  /** The incident's status has the state of `tally`; sooner or later that is kept, too. */
  settle(tally: Tally): void;
  close(): Promise<void>;
}
