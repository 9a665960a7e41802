import { stat } from "node:fs/promises";
import { parseArgs } from "node:util";
import {
  checkpointKeys,
  type LedgerPlace,
  ledgerDirectory,
  openLedgerDatabase,
  patienceMs,
  trustedKeys,
} from "../../../app/index.ts";
import {
  type CheckpointOutcome,
  generateKeyFiles,
  type LedgerDatabase,
  makeCheckpoint,
  shipLeftovers,
} from "../../../ledger/index.ts";
import { silentLogger } from "../../../telemetry/index.ts";
import { type Command, CommandError, takeOption } from "../../command.ts";
import { type CommandContext, configFrom, dataDirectory } from "../../context.ts";
import { MisuseError } from "../../parsing/misuse.ts";
import type { Archive } from "./archive.ts";
import { ledger as ledgerAtArchive } from "./ledger.ts";

/** `interlock ledger` */
export const ledger: Command<CommandContext> = {
  name: ledgerAtArchive.name,
  about: ledgerAtArchive.about,
  usage: `${ledgerAtArchive.usage}

  --data DIR              of the process whose ledger it is (default INTERLOCK_DATA, else .data)
  --config FILE           settings in YAML, see docs/configuration.md`,
  example: ledgerAtArchive.example,
  async perform(args, around) {
    const data = takeOption(args, "data");
    const { value, rest } = takeOption(data.rest, "config");
    if (rest[0] === "keygen") return keygen(rest.slice(1), around);
    const options = { loaded: await configFrom(value, around), directory: data.value ?? dataDirectory(around) };
    const directory = ledgerDirectory(options);
    const journals = (await stat(directory).catch(() => undefined))?.isDirectory() ? directory : undefined;
    if (!journals && !options.loaded.config.ledger.url) {
      throw new CommandError(`there is no ledger in ${directory}: name the data directory of its process with --data`);
    }
    const database = openLedgerDatabase(options, { waitMs: patienceMs });
    const { terminal, clock, random } = around;
    const patience = { quietForMs: 0, withinMs: 600_000 };
    const archive: Archive = {
      terminal,
      database,
      journals,
      nowMs: clock.wallMs(),
      clock,
      patienceMs,
      // The file of SQLite lies among the journals that it is made from; PostgreSQL is shared with other machines.
      expectsJournals: !options.loaded.config.ledger.url,
      shipLeftovers: (directory) =>
        shipLeftovers({ directory, ...patience, database, clock, random, log: silentLogger }),
      trustedKeys: () => allTrustedKeys(options),
      makeCheckpoint: (directory) => checkpointOf(database, directory, options, around),
    };
    try {
      return await ledgerAtArchive.perform(rest, archive);
    } finally {
      await database.close();
    }
  },
};

/** An alias of `interlock ledger`. */
export const audit: Command<CommandContext> = {
  ...ledger,
  name: "audit",
  about: "Alias of ledger",
  example: ledger.example.replace("interlock ledger", "interlock audit"),
};

async function keygen(args: readonly string[], { terminal }: CommandContext): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { out: { type: "string" } } });
  if (!values.out) throw new MisuseError("--out FILE is missing: where the private key is written to");
  const { id } = await generateKeyFiles(values.out);
  terminal.print(`key ${id}: private key in ${values.out}, public key in ${values.out}.pub`);
  return 0;
}

async function allTrustedKeys({ loaded }: LedgerPlace) {
  const keys = await checkpointKeys(loaded);
  return keys ? [keys.key, ...keys.trusted] : await trustedKeys(loaded);
}

async function checkpointOf(
  database: LedgerDatabase,
  directory: string | undefined,
  { loaded }: LedgerPlace,
  { clock, terminal }: CommandContext,
): Promise<CheckpointOutcome> {
  const keys = await checkpointKeys(loaded);
  if (!keys) {
    throw new CommandError("there is no key to sign with; set LEDGER_CHECKPOINT_KEY_FILE", [
      "make one with: interlock ledger keygen --out FILE",
    ]);
  }
  const place = directory ?? loaded.config.ledger.checkpointDir;
  if (!place)
    throw new CommandError("there is no place to export to; name it with --out DIR, or set LEDGER_CHECKPOINT_DIR");
  const createdBy = `command-${terminal.id()}`;
  return makeCheckpoint({ database, ...keys, directory: place, createdBy, nowMs: clock.wallMs() });
}
