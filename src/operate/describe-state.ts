import type { KubeObject } from "../kube/index.ts";
import { blockText } from "../resources/index.ts";

/** The fields of a status that tell people where an object of any of our kinds stands. */
interface State {
  readonly phase?: string;
  readonly block?: { readonly reason: string; readonly cause?: string };
  readonly decision?: string;
  readonly decidedBy?: string;
  readonly endedAt?: string;
  readonly endedBy?: string;
}

/** The state of an object as a main clause: `it is Blocked now, Paused`. */
export function describeState(object: KubeObject): string {
  const { phase = "Pending", block, decision, decidedBy, endedAt, endedBy } = stateOf(object);
  if (decision) return `it is ${decision} now${decidedBy ? `, by ${decidedBy}` : ""}`;
  if (endedAt) return `it was ended at ${endedAt}${endedBy ? ` by ${endedBy}` : ""}`;
  return `it is ${phase} now${block ? `, ${blockText(block.reason, block.cause)}` : ""}`;
}

function stateOf(object: KubeObject & { readonly status?: State }): State {
  return object.status ?? {};
}
