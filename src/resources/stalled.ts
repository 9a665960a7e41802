import { stalledCondition } from "../kube/index.ts";
import type { Condition } from "./kinds/schemas/fields.ts";

/** Why work on an object is stalled, in one word. */
export const stallReasons = ["WebhookFailed", "QuotaExceeded", "Forbidden", "Invalid", "Unavailable", "Error"] as const;
export type StallReason = (typeof stallReasons)[number];

/** Work on an object that keeps failing. */
export interface Stall {
  readonly reason: StallReason;
  readonly error: string;
  /** When it failed first. */
  readonly sinceMs: number;
  /** Absent if it is retried only at the next request of another program. */
  readonly nextAttemptMs?: number;
}

/** A stall as a condition. `lastTransitionTime` is its start. */
function toCondition({ reason, error, sinceMs, nextAttemptMs }: Stall): Condition {
  const next = nextAttemptMs === undefined ? "" : `${nextAttempt}${new Date(nextAttemptMs).toISOString()}`;
  return {
    type: stalledCondition,
    status: "True",
    reason,
    message: `${error}${next}`,
    lastTransitionTime: new Date(sinceMs).toISOString(),
  };
}

const nextAttempt = "; next attempt at ";

/** The stall that an object's conditions report, if any. */
export function findStall(object: object): Stall | undefined {
  const { conditions = [] } = (object as { readonly status?: { conditions?: readonly Condition[] } }).status ?? {};
  const found = conditions.find(({ type, status }) => type === stalledCondition && status === "True");
  if (!found) return undefined;
  const at = found.message.lastIndexOf(nextAttempt);
  const error = at < 0 ? found.message : found.message.slice(0, at);
  const nextAttemptMs = at < 0 ? Number.NaN : Date.parse(found.message.slice(at + nextAttempt.length));
  return {
    reason: stallReasons.find((reason) => reason === found.reason) ?? "Error",
    error,
    sinceMs: Date.parse(found.lastTransitionTime),
    ...(Number.isNaN(nextAttemptMs) ? {} : { nextAttemptMs }),
  };
}

/** The conditions of an object with `stall` in place of an earlier one; without any stall if it is undefined. */
export function withStall(conditions: readonly Condition[], stall: Stall | undefined): readonly Condition[] {
  const others = conditions.filter(({ type }) => type !== stalledCondition);
  return stall ? [...others, toCondition(stall)] : others;
}

/** A stall in a sentence. */
export function describeStall({ reason, error, sinceMs, nextAttemptMs }: Stall): string {
  const next = nextAttemptMs === undefined ? "" : `${nextAttempt}${new Date(nextAttemptMs).toISOString()}`;
  return `${reason} since ${new Date(sinceMs).toISOString()}: ${error}${next}`;
}
