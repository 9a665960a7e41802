import type { PatchReading } from "../git/workshop.ts";

/** A patch in which one of our own secrets is goes nowhere: a push would publish it. */
export function refuseSecrets(reading: PatchReading, secrets: readonly string[]): PatchReading {
  if (reading.kind !== "patch") return reading;
  const bytes = Buffer.from(reading.patch.bytes);
  if (!secrets.some((secret) => bytes.includes(secret))) return reading;
  return {
    kind: "refused",
    reason: "Secret",
    message:
      "the change contains one of Interlock's own secrets; find out how the coding agent came to know it, and replace it",
  };
}
