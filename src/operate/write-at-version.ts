import { type KubeObject, patchAtVersion, type ResourceType, refOf } from "../kube/index.ts";
import { automationPauses, blockText } from "../resources/index.ts";
import { shortNames } from "../resources/short-names/index.ts";
import { OperationError } from "./errors/index.ts";
import type { OperationCall } from "./operation.ts";

interface VersionedRequest {
  readonly ifVersion?: string;
  readonly dryRun?: boolean;
}

/** A change of an object: its annotations or its status. */
export type VersionedChange =
  | { readonly annotations: Readonly<Record<string, string>> }
  | { readonly status: Readonly<Record<string, unknown>> };

/** Other writers, such as the counters of occurrences, change objects often; each attempt decides again. */
const maxAttempts = 8;

/**
 * Decides a change of `object` and writes it at the version for which it was decided; if the object changed in between, it is
 * read and decided again. `decide` returns undefined if nothing is left to do, and throws if the state does not allow it.
 * Only a change needs the version that the caller saw: a repeated request finds its own effect at a newer one.
 */
export async function writeAtVersion<T extends KubeObject>(
  type: ResourceType<T>,
  object: T,
  { request, context: { client } }: OperationCall<VersionedRequest>,
  decide: (object: T) => VersionedChange | undefined,
): Promise<T> {
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const change = decide(current);
    if (!change) return current;
    requireVersion(current, request.ifVersion);
    const outcome = await client.patch(
      type,
      refOf(current),
      patchAtVersion(current, "status" in change ? change : { metadata: change }),
      {
        dryRun: request.dryRun ?? false,
        ...("status" in change ? { subresource: "status" as const } : {}),
      },
    );
    if (outcome.kind === "updated") return outcome.object;
    const next = outcome.kind === "not-found" ? undefined : await client.get(type, refOf(current));
    const name = shortNames(current.metadata.name ?? "");
    if (!next || next.metadata.uid !== current.metadata.uid)
      throw new OperationError("not-found", `${name} was deleted`);
    if (attempt === maxAttempts) {
      throw new OperationError("conflict", `${name} changed in the meantime`, { hint: "try again", current });
    }
    current = next;
  }
}

/** Throws a conflict unless the object has the version that the caller saw. */
export function requireVersion(object: KubeObject, ifVersion: string | undefined): void {
  const { name = "", resourceVersion } = object.metadata;
  if (ifVersion === undefined || ifVersion === resourceVersion) return;
  const message = `${shortNames(name)} has changed since version ${ifVersion}: ${describeState(object)}`;
  throw new OperationError("conflict", message, { hint: "read it and decide again", current: object });
}

/** The fields of a status that describe the state of an object of any of our kinds. */
interface State {
  readonly phase?: string;
  readonly block?: { readonly reason: string; readonly cause?: string };
  readonly decision?: string;
  readonly decidedBy?: string;
  readonly endedAt?: string;
  readonly endedBy?: string;
}

/** The state of an object as a clause: `it is Blocked now, Paused`. */
function describeState(object: KubeObject): string {
  // A pause has no status before its end.
  const first = object.kind === automationPauses.kind ? "Active" : "Pending";
  const { phase = first, block, decision, decidedBy, endedAt, endedBy } = stateOf(object);
  if (decision) return `it is ${decision} now${decidedBy ? `, by ${decidedBy}` : ""}`;
  if (endedAt) return `it was ended at ${endedAt}${endedBy ? ` by ${endedBy}` : ""}`;
  return `it is ${phase} now${block ? `, ${blockText(block.reason, block.cause)}` : ""}`;
}

function stateOf(object: KubeObject & { readonly status?: State }): State {
  return object.status ?? {};
}
