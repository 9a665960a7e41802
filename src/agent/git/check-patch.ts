import { parsePatch } from "./parse-patch.ts";
import { refusalOf, refused, tooLarge } from "./tree-change.ts";
import type { Patch, PatchLimits, PatchReading } from "./workshop.ts";

/** A patch that was made elsewhere, by the rules that hold for one that is made here. */
export function checkPatch({ base, bytes }: Omit<Patch, "files">, limits: PatchLimits): PatchReading {
  if (bytes.length === 0) return { kind: "nothing" };
  if (bytes.length > limits.maxBytes) return tooLarge(limits);
  const parsed = parsePatch(bytes);
  if (parsed.kind === "problem") return refused("Unreadable", `the patch cannot be read: ${parsed.problem}`);
  const refusal = refusalOf(parsed.changes, limits);
  return refusal ?? { kind: "patch", patch: { base, bytes, files: parsed.changes.map(({ path }) => path) } };
}
