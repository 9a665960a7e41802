import type { RemediationWorkflow } from "../resources/index.ts";
import { parseDuration } from "../time/index.ts";
import type { Situation } from "./request.ts";

/** What the policy has to know of a catalog entry. */
export function workflowRules({ spec }: Pick<RemediationWorkflow, "spec">): NonNullable<Situation["workflow"]> {
  const cooldownMs = spec.cooldown === undefined ? undefined : parseDuration(spec.cooldown);
  return {
    ...(cooldownMs === undefined ? {} : { cooldownMs }),
    ...(spec.observe === undefined ? {} : { observe: spec.observe }),
  };
}
