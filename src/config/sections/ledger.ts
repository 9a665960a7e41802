import { count, directory, duration, file, oneOf, secret } from "../kinds.ts";
import { optional, setting } from "../setting.ts";
import { postgresUrl } from "../url-kinds.ts";

export const ledger = {
  dir: optional(directory(), {
    env: "LEDGER_DIR",
    about: "Where the ledger's journal is written; in the data directory unless set.",
  }),
  url: optional(postgresUrl(), {
    env: "LEDGER_URL",
    about: "The PostgreSQL database that the journal goes to; without it, a file `ledger.sqlite` beside the journal.",
  }),
  maxJournalBytes: setting(count(), {
    default: "1073741824",
    env: "LEDGER_MAX_JOURNAL_BYTES",
    about:
      "The largest journal, in bytes, while the database is unreachable. At the limit, nothing is done that cannot be recorded.",
  }),
  checkpointDir: optional(directory(), {
    env: "LEDGER_CHECKPOINT_DIR",
    about:
      "Where signed checkpoints of the ledger are exported to, best on storage that this process cannot change later. Without it none are made.",
  }),
  checkpointKey: optional(secret("an Ed25519 private key in PEM"), {
    env: "LEDGER_CHECKPOINT_KEY",
    about: "The private key that signs checkpoints, such as from a Secret.",
  }),
  checkpointKeyFile: optional(file(), {
    env: "LEDGER_CHECKPOINT_KEY_FILE",
    about: "A file with `ledger.checkpointKey`, instead. Other users must not be able to read it.",
  }),
  checkpointTrustedKeysFile: optional(file(), {
    env: "LEDGER_CHECKPOINT_TRUSTED_KEYS_FILE",
    about:
      "A file with public keys in PEM whose checkpoints are accepted in addition to those of the private key: the earlier keys.",
  }),
  checkpointIntervalMs: setting(duration({ min: "10s" }), {
    default: "1h",
    env: "LEDGER_CHECKPOINT_INTERVAL",
    about: "How often a process makes a checkpoint.",
  }),
  volume: setting(oneOf("persistent", "ephemeral"), {
    default: "persistent",
    env: "LEDGER_VOLUME",
    about:
      "The volume of the journal: `ephemeral` if it is lost with its pod or node, as an emptyDir is. Then start-up logs the possible loss.",
  }),
};
