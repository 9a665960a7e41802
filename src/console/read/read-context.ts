import type { LedgerDatabase } from "../../ledger/index.ts";
import type { Rule } from "../../policy/index.ts";
import type { Projection } from "../projection/projection.ts";
import type { RuleTestContext, SignalPreview } from "./rule-test.ts";

/** What pages of single objects are read from. The client of it has the rights of the viewer. */
export interface ReadContext extends RuleTestContext {
  readonly projection: Projection;
  /** The namespace of locks. */
  readonly locksIn: string;
  /** The rules in force, and what is wrong with their files. */
  rules(): Promise<{ readonly rules: readonly Rule[]; readonly problems: readonly string[] }>;
  /** Asks the gateway what it would do about a payload of a source. */
  preview(source: string, payload: unknown): Promise<readonly SignalPreview[]>;
  /** Undefined if the ledger cannot be read here. */
  openLedger(): Promise<LedgerReader | undefined>;
}

export type LedgerReader = Pick<LedgerDatabase, "place" | "events" | "writers" | "head" | "lines" | "close">;
