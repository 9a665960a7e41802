import type { KubeClient, PodLogs } from "../kube/index.ts";
import type { EventFilter, LedgerEvent } from "../ledger/index.ts";
import type { Facts, PolicySettings, Rule } from "../policy/index.ts";
import type { CatalogDefaults, Kinds, RemediationRequestSpec } from "../resources/index.ts";
import { shortNames } from "../resources/short-names/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { ExitName } from "./exit-status.ts";
import type { Terminal } from "./output/terminal.ts";

/** What commands work with that ask the API server, or tell it something. */
export interface Desk {
  readonly client: KubeClient;
  /** The output of containers; absent if the server has no kubelets. */
  readonly podLogs?: PodLogs;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts at the next Ctrl-C or SIGTERM. One that the command does not wait for ends the process. */
  interrupted(): AbortSignal;
  /** Where `up` keeps its things. */
  readonly directory: string;
  /** The namespace that commands list and search unless an option names another; undefined for all. */
  readonly namespace: string | undefined;
  readonly settings: PolicySettings;
  /** Where incidents live, and pauses that are made here. */
  readonly incidentsIn: string;
  /** Where the catalog is. */
  readonly catalogIn: string;
  /** What the configuration says where the catalog leaves something open. */
  readonly catalogDefaults: CatalogDefaults & { readonly allowOutsideCatalog: boolean };
  /** How long an approval is waited for, unless the workflow says otherwise. */
  readonly approvalExpiresAfterMs: number;
  /** Where processes write their heartbeats. */
  readonly heartbeatsIn: string;
  /** Where target records live. */
  readonly recordsIn: string;
  /** The rules, as they are written now. Throws CommandError with everything that is wrong with them. */
  rules(): Promise<readonly Rule[]>;
  /** The kinds that targets may be of: those of the API server at this moment, and those that the configuration declares. */
  kinds(): Promise<Kinds>;
  /** Reads what rules ask about the objects behind an incident. */
  readFacts(incident: RemediationRequestSpec, subject: string | undefined): Promise<Facts>;
  /** How long a fix is watched after a run, and how soon after it signals do not count. */
  readonly verification: { readonly graceMs: number; readonly windowMs: number };
  /** What the ledger has of such events, oldest first. Undefined, if it cannot be read here. */
  recorded(
    subject: Pick<EventFilter, "incident" | "execution" | "target" | "type">,
  ): Promise<readonly LedgerEvent[] | undefined>;
}

/** A command cannot do what was asked. The message is for the operator. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** One entry per printed line. A newline within an entry came from outside, and is not obeyed. */
  readonly lines: readonly string[];
  readonly exit: ExitName;

  constructor(message: string, details: readonly string[] = [], exit: ExitName = "failed") {
    const lines = [message, ...details.map((detail) => `  ${detail}`)];
    super(lines.join("\n"));
    this.lines = lines;
    this.exit = exit;
  }
}

/** Wrong arguments. The operator is shown an example. */
export class MisuseError extends CommandError {
  constructor(message: string, details: readonly string[] = []) {
    super(message, details, "misuse");
  }
}

/** What is printed of an error, one entry per line. */
export function errorLines(error: unknown): readonly string[] {
  const lines = error instanceof CommandError ? error.lines : [error instanceof Error ? error.message : String(error)];
  return lines.map((line, i) => shortNames(i === 0 ? `error: ${line}` : line));
}
