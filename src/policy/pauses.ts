import type { AutomationPause } from "../resources/index.ts";

/** What the policy has to know of an `AutomationPause`. */
export interface Pause {
  readonly name: string;
  /** A target in it is in canonical form. */
  readonly spec: AutomationPause["spec"];
}

/** The pauses that last at `nowMs`: not ended by a person, and not over. `canonical` knows all spellings of a target. */
export function lastingPauses(
  pauses: readonly AutomationPause[],
  nowMs: number,
  canonical: (target: string) => string,
): readonly Pause[] {
  return pauses
    .filter(({ spec, status }) => status === undefined && (!spec.until || Date.parse(spec.until) > nowMs))
    .map(({ metadata, spec }) => ({ name: metadata.name ?? "", spec: canonicalSpec(spec, canonical) }));
}

function canonicalSpec(spec: Pause["spec"], canonical: (target: string) => string): Pause["spec"] {
  return spec.scope === "Target" ? { ...spec, targetResource: canonical(spec.targetResource) } : spec;
}
