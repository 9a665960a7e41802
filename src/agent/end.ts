import type { CodingTaskStatus } from "../resources/index.ts";
import type { RemoteError } from "./remote-error.ts";

export type TaskResult = NonNullable<Extract<CodingTaskStatus, { phase: "Completed" }>["result"]>;

/** The result of an attempt. Messages are shown to people and contain no secret. */
export type End =
  | { readonly kind: "completed"; readonly message: string; readonly result?: TaskResult }
  /** A newer commit replaces it. */
  | { readonly kind: "superseded"; readonly by: string; readonly message: string }
  /** `isQuiet`: nothing is posted, because no note announced the work. `reason`: why the user is not served. */
  | { readonly kind: "cancelled"; readonly message: string; readonly reason?: string; readonly isQuiet?: boolean }
  | Failed;

export interface Failed {
  readonly kind: "failed";
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Whether another attempt may succeed. */
  readonly retry: boolean;
  /** GitLab or Jira is unavailable, or rejects our token. Such an attempt does not count. */
  readonly isOutage?: boolean;
  /** The earliest next attempt, if the server asked for a delay. */
  readonly retryAfterMs?: number;
  /** Nothing is posted, because the access of the author is unknown. */
  readonly isQuiet?: boolean;
}

/** Maps an error of GitLab or Jira to the result of an attempt. */
export function remoteErrorEnd({ kind, status, message, retryAfterMs }: RemoteError): Failed {
  const reason = { unavailable: "Unavailable", denied: "Denied", missing: "Missing", refused: "Refused" }[kind];
  // An operator replaces a rejected token, and then the waiting tasks continue.
  const isOutage = kind === "unavailable" || status === 401;
  return { ...failedEnd(reason, message, isOutage), isOutage, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** `by`: the operator and the reason. */
export function cancelledEnd(by: string): End {
  return { kind: "cancelled", message: `cancelled: ${by}` };
}

/** `by`: the newer commit. */
export function supersededEnd(by: string): End {
  return { kind: "superseded", by, message: `superseded by a newer commit: ${by.slice(0, 8)}` };
}

export function failedEnd(reason: string, message: string, retry = false): Failed {
  return { kind: "failed", reason, message, retry };
}
