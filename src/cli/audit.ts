import { parseArgs } from "node:util";
import {
  type ChainProblem,
  type EventFilter,
  isWanted,
  type LedgerDatabase,
  type LedgerEvent,
  type LedgerEventType,
  type LedgerReport,
  type LedgerRow,
  type Leftover,
  ledgerEventTypes,
  readLedger,
  subjectsOf,
  verifyDatabase,
  verifyHandOver,
  verifyLedger,
} from "../ledger/index.ts";
import { builtInKinds, parseTarget } from "../resources/index.ts";
import { parseDuration } from "../time/index.ts";
import { type Command, CommandError } from "./command.ts";
import { MisuseError } from "./misuse.ts";
import { isNamed, shortNames } from "./short-name.ts";
import type { Terminal } from "./terminal.ts";

/** The ledger, as far as it can be reached from here. */
export interface Archive {
  readonly terminal: Terminal;
  readonly database: LedgerDatabase;
  /** The directory of the journals; undefined if there is none here. */
  readonly journals: string | undefined;
  readonly nowMs: number;
  /** Brings over what processes have left in a directory of journals that do not run any more. */
  shipLeftovers(journals: string): Promise<readonly Leftover[]>;
}

const sources = ["database", "journal"] as const;

type Source = (typeof sources)[number];

/** `interlock audit` */
export const audit: Command<Archive> = {
  name: "audit",
  about: "what was recorded: show it, export it, verify that nobody changed it",
  usage: `interlock audit show|export [TARGET] [FILTERS] [--from ${sources.join("|")}] | interlock audit verify [--from ${sources.join("|")}] | interlock audit ship

  show      events for people, one line each, oldest first
  export    events as JSON lines, with the chain they stand in
  verify    is every row what was written, and none missing? Exit status 1 if not
  ship      brings the journals of this machine to the database whose processes do not run any more

  --target TARGET         the same as TARGET
  --incident NAME         as in: interlock get incidents
  --execution NAME|UID
  --type TYPE             such as execution.skipped
  --since, --until WHEN   2026-11-15T10:00:00Z, or 2h for two hours ago
  --from                  the database (default; its newest events are a moment old), or the journals of this machine.
                          verify looks at both unless told otherwise`,
  example: "interlock audit show node/worker-1 --since 2h",
  perform: performAudit,
};

async function performAudit([verb, ...args]: readonly string[], archive: Archive): Promise<number> {
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options });
  const from = sources.find((source) => source === values.from);
  if (values.from !== undefined && !from) throw new MisuseError(`--from can be ${sources.join(" or ")}`);
  if (positionals.length > 1) throw new MisuseError(`one target at a time, got ${positionals.join(" ")}`);
  const filter = filterOf({ ...values, target: positionals[0] ?? values.target }, archive.nowMs);
  switch (verb) {
    case "verify":
      return verify(archive, from);
    case "ship":
      return ship(archive);
    case "export":
      await list(archive, from ?? "database", filter, (row) => JSON.stringify(row));
      return 0;
    case "show":
      if ((await list(archive, from ?? "database", filter, (row) => shortNames(shown(row)))) === 0)
        archive.terminal.print("nothing that fits is recorded");
      return 0;
    default:
      throw new MisuseError("say show, export, verify or ship");
  }
}

const text = { type: "string" } as const;
const options = { from: text, target: text, incident: text, execution: text, type: text, since: text, until: text };

async function list(archive: Archive, from: Source, filter: EventFilter, line: (row: LedgerRow) => string) {
  let count = 0;
  for await (const row of wantedRows(archive, from, filter)) {
    archive.terminal.print(line(row));
    count++;
  }
  return count;
}

/** Names may be cut short, as elsewhere. The database finds whole ones without reading everything, so they go first. */
async function* wantedRows(archive: Archive, from: Source, filter: EventFilter): AsyncGenerator<LedgerRow> {
  let isFound = false;
  for await (const row of rowsOf(archive, from, filter)) {
    isFound = true;
    yield row;
  }
  const { incident, execution, ...rest } = filter;
  if (isFound || (incident === undefined && execution === undefined)) return;
  for await (const row of rowsOf(archive, from, rest)) {
    const subjects = subjectsOf(row);
    const isMeant = (text: string | undefined, name: unknown) => text === undefined || isNamed(text, String(name));
    if (isMeant(incident, subjects.incident) && isMeant(execution, subjects.execution)) yield row;
  }
}

async function* rowsOf(archive: Archive, from: Source, filter: EventFilter): AsyncGenerator<LedgerRow> {
  const rows = from === "database" ? archive.database.events(filter) : readLedger(journalsOf(archive));
  for await (const row of rows) if (isWanted(row, filter)) yield row;
}

async function verify(archive: Archive, from: Source | undefined): Promise<number> {
  const { database, journals, terminal } = archive;
  const problems: ChainProblem[] = [];
  function tell(place: string, { writers, problems: found }: LedgerReport) {
    const rows = writers.reduce((sum, writer) => sum + writer.rows, 0);
    terminal.print(`${place}: ${rows} rows of ${writers.length} ${writers.length === 1 ? "writer" : "writers"}`);
    problems.push(...found);
  }
  if (from !== "journal") tell(database.place, await verifyDatabase(database));
  if (from === "journal" || (from === undefined && journals))
    tell(journalsOf(archive), await verifyLedger(journalsOf(archive)));
  if (from === undefined && journals) problems.push(...(await verifyHandOver(journals, database)));
  for (const { kind, file, line, message } of problems) terminal.print(`${kind}: ${file} line ${line}: ${message}`);
  terminal.print(
    problems.length === 0 ? "every row is what was written, and none is missing" : `${problems.length} problems`,
  );
  return problems.length === 0 ? 0 : 1;
}

async function ship(archive: Archive): Promise<number> {
  const { database, terminal } = archive;
  const found = await archive.shipLeftovers(journalsOf(archive));
  for (const one of found) terminal.print(`${one.writer}: ${shipment(one, database.place)}`);
  return found.some((one) => one.kind === "shipped" && one.left > 0) ? 1 : 0;
}

function shipment(one: Leftover, place: string): string {
  if (one.kind !== "shipped") return "its process runs, and brings over what is left by itself";
  if (one.left > 0) return `${one.left} rows are left: ${place} does not take them`;
  return one.rows === 0 ? "nothing is left" : `${one.rows} rows brought to ${place}`;
}

function journalsOf({ journals }: Archive): string {
  if (journals) return journals;
  throw new CommandError("there is no journal here: name its process' data directory with --data, or set LEDGER_DIR");
}

function filterOf(
  values: { readonly [Name in keyof typeof options]?: string | undefined },
  nowMs: number,
): EventFilter {
  const type = ledgerEventTypes.find((type) => type === values.type);
  if (values.type !== undefined && !type) {
    throw new CommandError(`nothing of the type ${values.type} is recorded; there is ${ledgerEventTypes.join(", ")}`);
  }
  return {
    target: values.target && canonical(values.target),
    incident: values.incident,
    execution: values.execution?.replace(/^.*\//, ""),
    type: type as LedgerEventType | undefined,
    sinceMs: moment("since", values.since, nowMs),
    untilMs: moment("until", values.until, nowMs),
  };
}

function moment(name: string, value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const agoMs = parseDuration(value);
  const ms = agoMs === undefined ? Date.parse(value) : nowMs - agoMs;
  if (!Number.isNaN(ms)) return ms;
  throw new CommandError(`--${name} ${value} is no time: write 2026-11-15T10:00:00Z, or 2h for two hours ago`);
}

/** As it is recorded. Kinds that only a cluster knows have to be written so. */
function canonical(target: string): string {
  const read = parseTarget(target, builtInKinds);
  return read.kind === "target" ? read.target.text : target;
}

/** When, what, about what, by which, and why. */
function shown({ at, type, facts }: LedgerEvent): string {
  const about = [facts["target_resource"], facts["workflow_id"], facts["execution"] ?? facts["remediation_id"]];
  const why = [
    facts["skip_reason"] ?? facts["failure_reason"] ?? facts["because"],
    facts["message"] ?? facts["reason"],
  ];
  const words = [about, why].map((parts) => parts.filter((part) => part !== undefined && part !== "").join("  "));
  return [at, type.padEnd(20), ...words].filter(Boolean).join("  ").trimEnd();
}
