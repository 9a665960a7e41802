import { findSecret, withoutSecrets } from "../../telemetry/index.ts";
import { parsePatch } from "../git/parse-patch.ts";
import type { PatchReading } from "../git/workshop.ts";

/**
 * Refuses a patch that brings a secret into a file: a push would publish it. Lines that are removed or stay are not
 * looked at, so that a secret can be taken out of a repository.
 */
export function refuseSecrets(reading: PatchReading, secrets: readonly string[]): PatchReading {
  if (reading.kind !== "patch") return reading;
  const parsed = parsePatch(reading.patch.bytes);
  if (parsed.kind === "problem") {
    return { kind: "refused", reason: "Unreadable", message: `the patch cannot be read: ${parsed.problem}` };
  }
  for (const { path, text } of parsed.added) {
    const what = findSecret(Buffer.from(text, "latin1").toString(), secrets) ?? findSecret(path, secrets);
    if (what === undefined) continue;
    const where = withoutSecrets(path, secrets);
    const fix = "replace it if it is real, and have a person commit what has to be in the repository";
    return { kind: "refused", reason: "Secret", message: `the change to ${where} contains ${what}; ${fix}` };
  }
  return reading;
}
