import { createHash } from "node:crypto";
import { nameHash } from "../kube/index.ts";
import type { Target } from "./target/target.ts";

/** The target in names and labels: 52 base32hex characters. */
export function targetHash({ text }: Target): string {
  return nameHash(text);
}

/**
 * The name of a run on `target`: every engine, replica and workflow asks for the same one, so that the API server
 * refuses the second. It is cut to 16 hex digits; on a collision compare the clear target, which the run carries.
 */
export function runName({ text }: Target): string {
  return `wfe-${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}
