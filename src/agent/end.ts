import type { CodingTaskStatus } from "../resources/index.ts";
import type { RemoteError } from "./remote-error.ts";

export type TaskResult = NonNullable<Extract<CodingTaskStatus, { phase: "Completed" }>["result"]>;

/** How a try came out. Messages are for people, and hold no secret. */
export type End =
  | { readonly kind: "completed"; readonly message: string; readonly result?: TaskResult }
  /** Something newer took its place. */
  | { readonly kind: "superseded"; readonly by: string; readonly message: string }
  /** `isQuiet`: nobody waits for it any more, and nobody was told that it had begun. `reason`: it is not served. */
  | { readonly kind: "cancelled"; readonly message: string; readonly reason?: string; readonly isQuiet?: boolean }
  | Failed;

export interface Failed {
  readonly kind: "failed";
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Whether another try may come out better. */
  readonly retry: boolean;
  /** It is not the task's fault: GitLab or Jira is away, or takes our token no more. Such a try does not count. */
  readonly isOutage?: boolean;
  /** When to try again at the earliest, if somebody said so. */
  readonly retryAfterMs?: number;
  /** Nothing is posted: it is not known whether its author may cause that. */
  readonly isQuiet?: boolean;
}

/** The end of a try that GitLab or Jira brought about. */
export function endOfRemoteError({ kind, status, message, retryAfterMs }: RemoteError): Failed {
  const reason = { unavailable: "Unavailable", denied: "Denied", missing: "Missing", refused: "Refused" }[kind];
  // A token that is taken no more is renewed by people, and then everything that waited goes on.
  const isOutage = kind === "unavailable" || status === 401;
  return { ...failed(reason, message, isOutage), isOutage, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

export function failed(reason: string, message: string, retry = false): Failed {
  return { kind: "failed", reason, message, retry };
}
