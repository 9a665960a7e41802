import type { KubeObject } from "../kube/index.ts";
import { annotationKeys } from "./names.ts";

/** An operator's request to cancel an execution or an incident. */
export interface CancelRequest {
  readonly by: string;
  readonly reason: string;
  /** Whether the workflow stays blocked on the target until an operator acknowledges. */
  readonly blocks: boolean;
}

/** The request in the annotations of an execution or incident, if there is one. */
export function readCancelRequest({ metadata }: KubeObject): CancelRequest | undefined {
  const { annotations = {} } = metadata;
  const reason = annotations[annotationKeys.cancelRequested]?.trim();
  if (!reason) return undefined;
  const by = annotations[annotationKeys.cancelRequestedBy]?.trim() || "unknown";
  return { by, reason, blocks: annotations[annotationKeys.cancelBlocks] === "true" };
}

/** The annotations that make the request. */
export function cancelAnnotations({ by, reason, blocks }: CancelRequest): Readonly<Record<string, string>> {
  return {
    [annotationKeys.cancelRequested]: reason,
    [annotationKeys.cancelRequestedBy]: by,
    ...(blocks ? { [annotationKeys.cancelBlocks]: "true" } : {}),
  };
}

/** A request in a sentence. */
export function describeCancellation({ by, reason }: Pick<CancelRequest, "by" | "reason">): string {
  return `Cancelled by ${by}: ${reason}`;
}

/** An operator's statement that a retry is safe, which is not recorded yet. */
export interface AckRequest {
  readonly by: string;
  readonly reason: string;
}

/** Reads the request from the annotations of an incident, an execution or a target record. */
export function readAckRequest({ metadata: { annotations = {} } }: KubeObject): AckRequest | undefined {
  const reason = annotations[annotationKeys.acknowledge]?.trim();
  return reason ? { by: annotations[annotationKeys.acknowledgedBy]?.trim() || "unknown", reason } : undefined;
}
