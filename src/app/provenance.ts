import { readFile } from "node:fs/promises";
import type { Config } from "../config/index.ts";
import { alertmanagerReader, readProvenance } from "../sources/index.ts";

/** The reader of Alertmanager's webhook, with the installation's own rows of the table of label provenance. */
export async function openAlertmanagerReader({ sources }: Pick<Config, "sources">) {
  const path = sources.alertmanagerProvenance;
  if (path === undefined) return alertmanagerReader();
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new TypeError(`sources.alertmanager.provenance: ${path} cannot be read (${error.code})`);
  });
  const reading = readProvenance({ path, text });
  if (reading.kind === "valid") return alertmanagerReader(reading.reporters);
  throw new TypeError(`the table of label provenance is wrong:\n  ${reading.problems.join("\n  ")}`);
}
