import type { LedgerDatabase } from "../../ledger/index.ts";
import type { Rule } from "../../policy/index.ts";
import type { Projection } from "../projection/projection.ts";
import type { RuleTestContext, SignalPreview } from "./rule-test.ts";

/** The sources of the pages of single objects. Its client has the rights of the viewer. */
export interface ReadContext extends RuleTestContext {
  readonly projection: Projection;
  /** The namespace of locks. */
  readonly locksIn: string;
  /** The rules in force, and the problems of their files. */
  rules(): Promise<{ readonly rules: readonly Rule[]; readonly problems: readonly string[] }>;
  /** The gateway's preview of a payload of a source. */
  preview(source: string, payload: unknown): Promise<readonly SignalPreview[]>;
  /** Undefined if the ledger cannot be read here. */
  openLedger(): Promise<LedgerReader | undefined>;
}

export type LedgerReader = Pick<LedgerDatabase, "place" | "events" | "writers" | "head" | "lines" | "close">;
