import type { KubeObject } from "../kube/index.ts";
import { annotationKeys } from "./names.ts";

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
