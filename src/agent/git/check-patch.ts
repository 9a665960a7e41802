import { parsePatch } from "./parse-patch.ts";
import { findViolation, refuse, tooLarge } from "./tree-change.ts";
import type { Patch, PatchLimits, PatchReading } from "./workshop.ts";

/** Checks a patch that was created in another process, by the same rules as a patch that is created here. */
export function checkPatch({ base, bytes }: Omit<Patch, "files">, limits: PatchLimits): PatchReading {
  if (bytes.length === 0) return { kind: "nothing" };
  if (bytes.length > limits.maxBytes) return tooLarge(limits);
  const parsed = parsePatch(bytes);
  if (parsed.kind === "problem") return refuse("Unreadable", `the patch is unreadable: ${parsed.problem}`);
  const refusal = findViolation(parsed.changes, limits);
  return refusal ?? { kind: "patch", patch: { base, bytes, files: parsed.changes.map(({ path }) => path) } };
}
