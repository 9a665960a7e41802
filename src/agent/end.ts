import type { CodingTaskStatus } from "../resources/index.ts";

export type TaskResult = NonNullable<Extract<CodingTaskStatus, { phase: "Completed" }>["result"]>;

/** How a try came out. Messages are for people, and hold no secret. */
export type End =
  | { readonly kind: "completed"; readonly message: string; readonly result?: TaskResult }
  /** Something newer took its place. */
  | { readonly kind: "superseded"; readonly by: string; readonly message: string }
  /** `isQuiet`: nobody waits for it any more, and nobody was told that it had begun. */
  | { readonly kind: "cancelled"; readonly message: string; readonly isQuiet?: boolean }
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
}

export function failed(reason: string, message: string, retry = false): Failed {
  return { kind: "failed", reason, message, retry };
}
