import { parseArgs } from "node:util";
import {
  type EventFilter,
  isWanted,
  type LedgerEvent,
  type LedgerEventType,
  type LedgerRow,
  type Leftover,
  ledgerEventTypes,
  listSubjects,
  readLedger,
} from "../../../ledger/index.ts";
import { builtInKinds, parseTarget } from "../../../resources/index.ts";
import { parseDuration } from "../../../time/index.ts";
import { type Command, CommandError } from "../../command.ts";
import { unverified } from "../../own-name.ts";
import { MisuseError } from "../../parsing/misuse.ts";
import { isNamed, shortNames } from "../../parsing/short-name.ts";
import { type Archive, journalsOf, type Source, sources } from "./archive.ts";
import { verify } from "./verify.ts";

/** `interlock ledger` */
export const ledger: Command<Archive> = {
  name: "ledger",
  about: "Show, export and verify the ledger",
  usage: `interlock ledger show|export [TARGET] [FILTERS] [--from ${sources.join("|")}]
interlock ledger verify [--from ${sources.join("|")}] [--checkpoint FILE [--key FILE]]
interlock ledger ship | checkpoint [--out DIR] | keygen --out FILE

  show        print events for people, one line each, oldest first
  export      print events as JSON lines, with the chain they stand in
  verify      check that every row is what was written, and none is missing. Exit status 1 if not
  ship        bring the journals of this machine to the database whose processes do not run any more
  checkpoint  sign the heads of all chains, and export them
  keygen      make a key for checkpoints: FILE (private) and FILE.pub (public)

  --target TARGET         the same as TARGET
  --incident NAME         as in: interlock get incidents
  --execution NAME|UID
  --type TYPE             such as execution.skipped
  --since, --until WHEN   2026-11-15T10:00:00Z, or 2h for two hours ago
  --from                  the database (default; its newest events are a moment old), or the journals of this machine.
                          verify looks at both, and compares them, unless told otherwise
  --checkpoint FILE       prove that nothing before the checkpoint was changed or removed
  --key FILE              public keys that may have signed it (default: those of the configuration)
  --out DIR               where the checkpoint is exported to (default: ledger.checkpointDir)`,
  example: "interlock ledger show node/worker-1 --since 2h",
  perform: performLedger,
};

async function performLedger([verb, ...args]: readonly string[], archive: Archive): Promise<number> {
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options });
  const from = sources.find((source) => source === values.from);
  if (values.from !== undefined && !from) throw new MisuseError(`--from can be ${sources.join(" or ")}`);
  if (positionals.length > 1) throw new MisuseError(`one target at a time, got ${positionals.join(" ")}`);
  const filter = filterOf({ ...values, target: positionals[0] ?? values.target }, archive.nowMs);
  switch (verb) {
    case "verify":
      return verify(archive, { from, checkpoint: values.checkpoint, key: values.key });
    case "checkpoint":
      return checkpoint(archive, values.out);
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
      throw new MisuseError("unknown subcommand; use show, export, verify, ship, checkpoint or keygen");
  }
}

const text = { type: "string" } as const;
const options = {
  from: text,
  target: text,
  incident: text,
  execution: text,
  type: text,
  since: text,
  until: text,
  checkpoint: text,
  key: text,
  out: text,
};

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
    const subjects = listSubjects(row);
    const isMeant = (text: string | undefined, name: unknown) => text === undefined || isNamed(text, String(name));
    if (isMeant(incident, subjects.incident) && isMeant(execution, subjects.execution)) yield row;
  }
}

async function* rowsOf(archive: Archive, from: Source, filter: EventFilter): AsyncGenerator<LedgerRow> {
  const rows = from === "database" ? archive.database.events(filter) : readLedger(journalsOf(archive));
  for await (const row of rows) if (isWanted(row, filter)) yield row;
}

async function ship(archive: Archive): Promise<number> {
  const { database, terminal } = archive;
  const found = await archive.shipLeftovers(journalsOf(archive));
  for (const one of found) terminal.print(`${one.writer}: ${shipment(one, database.place)}`);
  return found.some((one) => one.kind === "shipped" && one.left > 0) ? 1 : 0;
}

async function checkpoint({ terminal, makeCheckpoint }: Archive, directory: string | undefined): Promise<number> {
  const outcome = await makeCheckpoint(directory);
  switch (outcome.kind) {
    case "written":
      terminal.print(`${outcome.file}: the heads of ${outcome.writers} writers`);
      return 0;
    case "unchanged":
      terminal.print(`nothing was recorded since ${outcome.file}`);
      return 0;
    case "refused":
      for (const { kind, file, line, message } of outcome.problems)
        terminal.print(`${kind}: ${file} line ${line}: ${message}`);
      terminal.print("nothing was signed; see: interlock ledger verify");
      return 1;
  }
}

function shipment(one: Leftover, place: string): string {
  if (one.kind !== "shipped") return "its process runs, and brings over what is left by itself";
  if (one.left > 0) return `${one.left} rows are left: ${place} does not take them`;
  return one.rows === 0 ? "nothing is left" : `${one.rows} rows brought to ${place}`;
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

/** Who did it, and whether that name was authenticated, for what operators do. */
function operatorIn({ by, verified }: LedgerEvent["facts"]): readonly string[] {
  if (by === undefined) return [];
  const name = String(by);
  if (verified === true) return [`by ${name} (verified)`];
  return [`by ${name}${name.endsWith(unverified) ? "" : ` ${unverified}`}`];
}

/** When, what, about what, by which, and why. */
function shown({ at, type, facts }: LedgerEvent): string {
  const subject = facts["execution"] ?? facts["remediation_id"] ?? facts["approval"] ?? facts["pause"];
  const about = [facts["target_resource"], facts["workflow_id"], subject];
  const why = [
    facts["skip_reason"] ?? facts["failure_reason"] ?? facts["because"] ?? facts["decision"],
    facts["message"] ?? facts["reason"],
  ];
  const words = [about, operatorIn(facts), why].map((parts) =>
    parts.filter((part) => part !== undefined && part !== "").join("  "),
  );
  return [at, type.padEnd(20), ...words].filter(Boolean).join("  ").trimEnd();
}
