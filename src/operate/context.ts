import type { KubeClient } from "../kube/index.ts";
import type { EventFilter, LedgerEvent } from "../ledger/index.ts";
import type { PolicySettings } from "../policy/index.ts";
import type { CatalogDefaults, Kinds } from "../resources/index.ts";
import type { Clock } from "../time/index.ts";

/** The context of operations and explanations. It has no terminal and no process, so a server can open one per request. */
export interface OperateContext {
  /** Acts with the rights of the caller. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly settings: PolicySettings;
  /** The namespace of incidents; pauses, approvals and executions are created there. */
  readonly incidentsIn: string;
  /** The namespace of the catalog. */
  readonly catalogIn: string;
  /** The values of the configuration for fields that a catalog entry leaves out. */
  readonly catalogDefaults: CatalogDefaults & { readonly allowOutsideCatalog: boolean };
  /** How long a requested approval waits for an answer, unless the workflow has its own limit. */
  readonly approvalExpiresAfterMs: number;
  /** The namespace of target records. */
  readonly recordsIn: string;
  /** How long an incident is watched after a run, and how long signals are ignored before that. */
  readonly verification: { readonly graceMs: number; readonly windowMs: number };
  /** The kinds that targets may be of: those of the API server at this moment, and those that the configuration declares. */
  kinds(): Promise<Kinds>;
  /**
   * The newest events of the ledger about `subject` that match, oldest first, at most `max`: a history has no limit. Undefined
   * if the ledger cannot be read here.
   */
  readEvents(
    subject: Pick<EventFilter, "incident" | "execution" | "target" | "type">,
    options: { readonly max: number; readonly matches?: (event: LedgerEvent) => boolean },
  ): Promise<readonly LedgerEvent[] | undefined>;
}

/** The person or program that performs an operation. */
export interface Caller {
  /** As it is recorded. Where the API server checks names, it must be the name of the authenticated user. */
  readonly name: string;
  /** The interface in use: "command line" or "console". */
  readonly via: string;
}
