import type { LedgerDatabase } from "../../ledger/index.ts";
import type { OperateContext } from "../../operate/index.ts";
import type { Facts, Rule } from "../../policy/index.ts";
import type { FieldTrace, RemediationRequestSpec } from "../../resources/index.ts";
import type { Projection } from "../projection/projection.ts";
import { type RowKind, type RowPage, rowKinds } from "../wire.ts";

/** What the gateway would do with one signal. */
export interface SignalPreview {
  readonly status: string;
  readonly message: string;
  readonly incident?: string;
  readonly fingerprint?: string;
  readonly fix?: string;
  readonly problems?: readonly string[];
  readonly subject?: string;
  readonly target?: string;
  readonly spec?: RemediationRequestSpec;
  readonly mapping?: readonly FieldTrace[];
}

export interface RuleTestContext extends OperateContext {
  /** Reads the facts that rules compare about the objects of an incident. */
  readFacts(incident: RemediationRequestSpec, subject: string | undefined, signal: AbortSignal): Promise<Facts>;
}

/** The sources of the pages of single objects. Its client has the rights of the viewer. */
export interface ReadContext extends RuleTestContext {
  readonly projection: Pick<Projection, "page" | "row">;
  /** The namespace of locks. */
  readonly locksIn: string;
  /** The rules in force, and the problems of their files. */
  rules(): Promise<{ readonly rules: readonly Rule[]; readonly problems: readonly string[] }>;
  /** The gateway's preview of a payload of a source, which may be any text. */
  preview(request: {
    readonly source: string;
    readonly payload: unknown;
    readonly signal: AbortSignal;
  }): Promise<readonly SignalPreview[]>;
  /** Undefined if the ledger cannot be read here. */
  openLedger(): Promise<LedgerReader | undefined>;
}

export type LedgerReader = Pick<LedgerDatabase, "place" | "events" | "writers" | "head" | "lines" | "close">;

/**
 * The context of a caller who may list only these kinds. The console reads rows and the ledger with its own rights, so rows of other
 * kinds are left out here, and the ledger, which is about all kinds, is for callers who may list all of them.
 */
export function limitReads(context: ReadContext, readableKinds: readonly RowKind[]): ReadContext {
  if (rowKinds.every((kind) => readableKinds.includes(kind))) return context;
  const { projection } = context;
  return {
    ...context,
    projection: {
      row: (kind, key) => projection.row(kind, key),
      page: async (kind, request) => (readableKinds.includes(kind) ? projection.page(kind, request) : noRows),
    },
    readEvents: async () => undefined,
    openLedger: async () => undefined,
  };
}

const noRows: RowPage = { version: "", total: 0, rows: [] };
