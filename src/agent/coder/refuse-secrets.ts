import { findSecret, withoutSecrets } from "../../telemetry/index.ts";
import { parsePatch } from "../git/parse-patch.ts";
import type { PatchReading } from "../git/workshop.ts";

/**
 * Refuses a patch that adds a secret to a file: a push would publish it. Removed and unchanged lines are not checked,
 * so a secret can be removed from a repository.
 */
export function refuseSecrets(reading: PatchReading, secrets: readonly string[]): PatchReading {
  if (reading.kind !== "patch") return reading;
  const parsed = parsePatch(reading.patch.bytes);
  if (parsed.kind === "problem") {
    return { kind: "refused", reason: "Unreadable", message: `the patch is unreadable: ${parsed.problem}` };
  }
  for (const { path, text } of parsed.added) {
    const what = findSecret(Buffer.from(text, "latin1").toString(), secrets) ?? findSecret(path, secrets);
    if (what === undefined) continue;
    const where = withoutSecrets(path, secrets);
    const fix = "revoke it if it is real; a person has to commit a text that must stay in the repository";
    return { kind: "refused", reason: "Secret", message: `the change to ${where} contains ${what}; ${fix}` };
  }
  return reading;
}
