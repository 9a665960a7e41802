import { isVerifiedName } from "../policy/index.ts";
import { type Cancellation, cancelRequestOn } from "../resources/index.ts";
import type { Snapshot } from "./snapshot.ts";

/** The request of an operator to stop the execution, as it goes on record. */
export function cancellationOf({ execution, acknowledgersKnownSinceMs }: Snapshot): Cancellation | undefined {
  const request = cancelRequestOn(execution);
  if (!request) return undefined;
  // The annotation may be there from the beginning.
  const signableSinceMs = Date.parse(execution.metadata.creationTimestamp ?? "");
  const verified = isVerifiedName(request.by, { knownSinceMs: acknowledgersKnownSinceMs, signableSinceMs });
  return { ...request, verified };
}
