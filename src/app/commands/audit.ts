import { stat } from "node:fs/promises";
import { type Archive, audit as auditAtArchive, type Command, CommandError, takeOption } from "../../cli/index.ts";
import { shipLeftovers } from "../../ledger/index.ts";
import { silentLogger } from "../../telemetry/index.ts";
import { ledgerDirectory, openLedgerDatabase, patienceMs } from "../ledger.ts";
import { configFrom, dataDirectory, type Surroundings } from "./surroundings.ts";

/** `interlock audit` */
export const audit: Command<Surroundings> = {
  name: auditAtArchive.name,
  about: auditAtArchive.about,
  usage: `${auditAtArchive.usage}

  --data DIR              of the process whose ledger it is (default INTERLOCK_DATA, else .data)
  --config FILE           settings in YAML, see docs/configuration.md`,
  example: auditAtArchive.example,
  async perform(args, around) {
    const data = takeOption(args, "data");
    const { value, rest } = takeOption(data.rest, "config");
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
      shipLeftovers: (directory) =>
        shipLeftovers({ directory, ...patience, database, clock, random, log: silentLogger }),
    };
    try {
      return await auditAtArchive.perform(rest, archive);
    } finally {
      await database.close();
    }
  },
};
