import { readFile } from "node:fs/promises";
import { checkpointKeys, patienceMs, trustedKeys } from "../../../app/index.ts";
import {
  type ChainProblem,
  type Checkpoint,
  journalWriters,
  type LedgerReport,
  readCheckpoint,
  readTrustedKeys,
  type TrustedKey,
  verifyCheckpointInDatabase,
  verifyCheckpointInJournals,
  verifyClaims,
  verifyDatabase,
  verifyHandOver,
  verifyLedger,
  verifyOverlap,
} from "../../../ledger/index.ts";
import { CommandError } from "../../command.ts";
import { type Archive, type ArchiveOptions, requireJournals, type Source } from "./archive.ts";

export interface VerifyOptions extends ArchiveOptions {
  /** Both, unless named. */
  readonly from?: Source;
  /** A file with a signed checkpoint. */
  readonly checkpoint?: string;
  /** A file with the public keys that may have signed it, instead of those of the configuration. */
  readonly key?: string;
}

/** Verifies everything that can be reached from here, and prints what was found. Returns the exit status. */
export async function verify(archive: Archive, { from, checkpoint: file, key }: VerifyOptions): Promise<number> {
  const { terminal } = archive;
  const checkpoint = file === undefined ? undefined : await trustedCheckpoint(archive, file, key);
  const inJournals = from === "journal" || (from === undefined && archive.journals !== undefined);
  const problems = [
    ...(from === "journal" ? [] : await verifyInDatabase(archive, checkpoint)),
    ...(inJournals ? await verifyInJournals(archive) : []),
    ...(inJournals && from === undefined ? await verifyBoth(archive) : []),
    ...(from === "journal" ? [] : await verifyRepeated(archive, { isCompared: inJournals })),
    ...(from === "journal" && checkpoint ? await verifyCheckpointInJournals(checkpoint, requireJournals(archive)) : []),
  ];

  const lines = withoutRepetitions(problems);
  for (const line of lines) terminal.print(line);
  if (checkpoint && lines.length === 0) terminal.print(proofLine(checkpoint, file ?? ""));
  terminal.print(lines.length === 0 ? "every row is unchanged, and none is missing" : `${lines.length} problems`);
  return lines.length === 0 ? 0 : 1;
}

async function verifyInDatabase(archive: Archive, checkpoint: Checkpoint | undefined) {
  const { database } = archive;
  const chains = report(archive, database.place, await verifyDatabase(database));
  return [...chains, ...(checkpoint ? await verifyCheckpointInDatabase(checkpoint, database) : [])];
}

async function verifyInJournals(archive: Archive) {
  const directory = requireJournals(archive);
  archive.terminal.progress.show(`reading the journals in ${directory}`);
  return report(archive, directory, await verifyLedger(directory));
}

async function verifyBoth(archive: Archive) {
  const { database, clock, place } = archive;
  const directory = requireJournals(archive);
  archive.terminal.progress.show(`comparing the journals in ${directory} with ${database.place}`);
  // The file of SQLite is beside the journals that it is made from; PostgreSQL is shared with other machines.
  const expectsJournals = !place.loaded.config.ledger.url;
  const overlap = await verifyOverlap(directory, database, { clock, patienceMs, expectsJournals });
  return [...overlap, ...(await verifyHandOver(directory, database))];
}

/** A writer whose journal was compared with the database is genuine. */
async function verifyRepeated({ database, terminal, journals }: Archive, { isCompared }: { isCompared: boolean }) {
  const withJournal = isCompared && journals ? await journalWriters(journals) : [];
  const { repeated, problems } = await verifyClaims(database, withJournal);
  if (repeated > 0)
    terminal.print(`${repeated} ${repeated === 1 ? "event was" : "events were"} recorded by more than one writer`);
  return problems;
}

function report({ terminal }: Archive, place: string, { writers, problems }: LedgerReport): readonly ChainProblem[] {
  const rows = writers.reduce((sum, writer) => sum + writer.rows, 0);
  terminal.print(`${place}: ${rows} rows of ${writers.length} ${writers.length === 1 ? "writer" : "writers"}`);
  return problems;
}

/** Several checks may find the same problem. */
function withoutRepetitions(problems: readonly ChainProblem[]): readonly string[] {
  return [...new Set(problems.map(({ kind, file, line, message }) => `${kind}: ${file} line ${line}: ${message}`))];
}

async function trustedCheckpoint(archive: Archive, file: string, key: string | undefined): Promise<Checkpoint> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`the checkpoint ${file} cannot be read (${error.code})`);
  });
  const trusted = key === undefined ? await configuredKeys(archive) : await readTrustedKeys(key);
  if (trusted.length === 0) {
    throw new CommandError("no key is trusted; name the file of the public key with --key", [
      "it was written by interlock ledger keygen beside the private key",
    ]);
  }
  const reading = readCheckpoint(text, trusted);
  if (reading.kind === "checkpoint") return reading.checkpoint;
  throw new CommandError(`the checkpoint ${file} ${reading.problem}`);
}

/** The public keys that may have signed a checkpoint, according to the configuration. */
async function configuredKeys({ place: { loaded } }: Archive): Promise<readonly TrustedKey[]> {
  const keys = await checkpointKeys(loaded);
  return keys ? [keys.key, ...keys.trusted] : await trustedKeys(loaded);
}

function proofLine({ createdAt, heads }: Checkpoint, file: string): string {
  const rows = Object.values(heads).reduce((sum, { seq }) => sum + seq, 0);
  const writers = Object.keys(heads).length;
  return `nothing was changed or removed before ${createdAt}: all ${rows} rows of ${writers} writers in ${file} are unchanged`;
}
