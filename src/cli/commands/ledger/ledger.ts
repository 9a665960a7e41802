import { checkpointKeys } from "../../../app/index.ts";
import {
  type CheckpointOutcome,
  type EventFilter,
  generateKeyFiles,
  isWanted,
  type LedgerEvent,
  type LedgerRow,
  type Leftover,
  ledgerEventTypes,
  listSubjects,
  makeCheckpoint,
  readLedger,
  shipLeftovers,
} from "../../../ledger/index.ts";
import { builtInKinds, parseTarget } from "../../../resources/index.ts";
import { isNamed, shortNames } from "../../../resources/short-names/index.ts";
import { silentLogger } from "../../../telemetry/index.ts";
import { CommandError } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { unverified } from "../../operator-name.ts";
import { bareName, splitKind } from "../../parsing/kinds.ts";
import { readMoment } from "../../parsing/options.ts";
import { type Archive, type ArchiveOptions, requireJournals, type Source, withArchive } from "./archive.ts";
import { type VerifyOptions, verify } from "./verify.ts";

interface ShowOptions extends ArchiveOptions {
  readonly from?: Source;
  readonly target?: string | undefined;
  readonly incident?: string;
  readonly execution?: string;
  readonly type?: string;
  readonly since?: string;
  readonly until?: string;
}

/** `interlock ledger show` */
export async function show(context: CommandContext, subject: string | undefined, options: ShowOptions): Promise<void> {
  return withArchive(context, options, async (archive) => {
    const count = await list(archive, subject, options, (row) => shortNames(eventLine(row)));
    if (count === 0) archive.terminal.print("no event matches");
  });
}

/** `interlock ledger export` */
export async function exportRows(
  context: CommandContext,
  subject: string | undefined,
  options: ShowOptions,
): Promise<void> {
  return withArchive(context, options, async (archive) => {
    await list(archive, subject, options, (row) => JSON.stringify(row));
  });
}

/** `interlock ledger verify` */
export async function verifyRows(context: CommandContext, options: VerifyOptions): Promise<number> {
  return withArchive(context, options, (archive) => verify(archive, options));
}

/** `interlock ledger ship` */
export async function ship(context: CommandContext, options: ArchiveOptions): Promise<number> {
  return withArchive(context, options, async (archive) => {
    const { database, terminal, clock, random } = archive;
    const found = await shipLeftovers({
      directory: requireJournals(archive),
      quietForMs: 0,
      withinMs: 600_000,
      ...{ database, clock, random, log: silentLogger },
    });
    for (const one of found) terminal.print(`${one.writer}: ${shipment(one, database.place)}`);
    return found.some((one) => one.kind === "unreadable" || (one.kind === "shipped" && one.left > 0)) ? 1 : 0;
  });
}

/** `interlock ledger checkpoint` */
export async function checkpoint(
  context: CommandContext,
  options: ArchiveOptions & { readonly out?: string },
): Promise<number> {
  return withArchive(context, options, async (archive) => {
    const { terminal } = archive;
    const outcome = await exportCheckpoint(archive, options.out);
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
  });
}

async function exportCheckpoint(
  { place: { loaded }, database, clock, random }: Archive,
  out: string | undefined,
): Promise<CheckpointOutcome> {
  const keys = await checkpointKeys(loaded);
  if (!keys) {
    throw new CommandError("no signing key; set LEDGER_CHECKPOINT_KEY_FILE", [
      "make one with: interlock ledger keygen --out FILE",
    ]);
  }
  const directory = out ?? loaded.config.ledger.checkpointDir;
  if (!directory) throw new CommandError("no export directory; name it with --out DIR, or set LEDGER_CHECKPOINT_DIR");
  const createdBy = `command-${random.id()}`;
  return makeCheckpoint({ database, ...keys, directory, createdBy, nowMs: clock.wallMs() });
}

/** `interlock ledger keygen` */
export async function keygen({ terminal }: CommandContext, { out }: { readonly out: string }): Promise<void> {
  const { id } = await generateKeyFiles(out);
  terminal.print(`key ${id}: private key in ${out}, public key in ${out}.pub`);
}

/** Prints the rows that the options select; returns their number. */
async function list(
  archive: Archive,
  subject: string | undefined,
  options: ShowOptions,
  line: (row: LedgerRow) => string,
): Promise<number> {
  let count = 0;
  for (const meant of subjectOptions(subject)) {
    const filter = toFilter({ ...options, ...meant }, archive.clock.wallMs());
    for await (const row of wantedRows(archive, options.from ?? "database", filter)) {
      archive.terminal.print(line(row));
      count++;
    }
    if (count > 0) break;
  }
  return count;
}

/** The filters for a subject, in the order in which they are tried: a target has a slash, a name has none. */
function subjectOptions(
  subject: string | undefined,
): readonly Pick<ShowOptions, "target" | "incident" | "execution">[] {
  if (subject === undefined) return [{}];
  const kind = splitKind(subject);
  if (subject.includes("/") && !kind) return [{ target: subject }];
  const name = kind?.name ?? subject;
  return [{ incident: name }, { execution: name }];
}

/** Names may be shortened. The database finds complete names without reading all rows, so these are tried first. */
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
  const rows = from === "database" ? archive.database.events(filter) : readLedger(requireJournals(archive));
  for await (const row of rows) if (isWanted(row, filter)) yield row;
}

function shipment(one: Leftover, place: string): string {
  if (one.kind === "unreadable") return `nothing was shipped: ${one.problem}`;
  if (one.kind !== "shipped") return "its process is running and ships the remaining rows itself";
  if (one.left > 0) return `${one.left} rows remain: ${place} rejects them`;
  return one.rows === 0 ? "nothing is left" : `${one.rows} rows shipped to ${place}`;
}

function toFilter(values: ShowOptions, nowMs: number): EventFilter {
  const type = ledgerEventTypes.find((type) => type === values.type);
  if (values.type !== undefined && !type) {
    throw new CommandError(`unknown event type ${values.type}; use one of ${ledgerEventTypes.join(", ")}`);
  }
  return {
    target: values.target && canonical(values.target),
    incident: values.incident && bareName(values.incident),
    execution: values.execution?.replace(/^.*\//, ""),
    type,
    sinceMs: readMoment("since", values.since, nowMs),
    untilMs: readMoment("until", values.until, nowMs),
  };
}

/** The target as it is recorded. A kind that only a cluster defines must be written in this form. */
function canonical(target: string): string {
  const read = parseTarget(target, builtInKinds);
  return read.kind === "target" ? read.target.text : target;
}

/** The operator of an event, and whether that name was authenticated. */
function operatorText({ by, verified }: LedgerEvent["facts"]): readonly string[] {
  if (by === undefined) return [];
  const name = String(by);
  if (verified === true) return [`by ${name} (verified)`];
  return [`by ${name}${name.endsWith(unverified) ? "" : ` ${unverified}`}`];
}

/** One line: time, type, subjects, operator and reason. */
function eventLine({ at, type, facts }: LedgerEvent): string {
  const subject = facts["execution"] ?? facts["remediation_id"] ?? facts["approval"] ?? facts["pause"];
  const about = [facts["target_resource"], facts["workflow_id"], subject];
  const why = [
    facts["skip_reason"] ?? facts["failure_reason"] ?? facts["because"] ?? facts["decision"],
    facts["message"] ?? facts["reason"],
  ];
  const words = [about, operatorText(facts), why].map((parts) =>
    parts.filter((part) => part !== undefined && part !== "").join("  "),
  );
  return [at, type.padEnd(20), ...words].filter(Boolean).join("  ").trimEnd();
}
