import { count, directory, oneOf, postgresUrl } from "../kinds.ts";
import type { Secret } from "../secret.ts";
import { optional, setting } from "../setting.ts";

export const ledger = {
  dir: optional<string>({
    kind: directory(),
    env: "LEDGER_DIR",
    about: "Where the ledger's journal is written; in the data directory unless set.",
  }),
  url: optional<Secret>({
    kind: postgresUrl(),
    env: "LEDGER_URL",
    about: "The PostgreSQL database that the journal goes to; without it, a file `ledger.sqlite` beside the journal.",
  }),
  maxJournalBytes: setting({
    kind: count(),
    default: "1073741824",
    env: "LEDGER_MAX_JOURNAL_BYTES",
    about:
      "The largest journal, in bytes, while the database is away. When it is reached, nothing is done that cannot be recorded.",
  }),
  volume: setting({
    kind: oneOf("persistent", "ephemeral"),
    default: "persistent",
    env: "LEDGER_VOLUME",
    about:
      "What the journal is on: `ephemeral` if it vanishes with its pod or node, as an emptyDir does. Then start-up says what may be lost.",
  }),
};
