import { iso, type KubeClient } from "../../kube/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import {
  notificationRequests,
  type RemediationApprovalRequest,
  remediationApprovalRequests,
} from "../../resources/index.ts";
import type { AnswerersKnownSince } from "../caches.ts";
import { requestAnswered } from "../reports/ledger-events.ts";
import { requestExpired } from "../reports/notices.ts";
import { isRecorded, withRecorded } from "../statuses.ts";

export interface RequestedApprovalDeps {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  readonly answerersKnownSince?: AnswerersKnownSince | undefined;
}

/**
 * Expires an approval that a user requested with `interlock run`, and records its answer in the ledger, whether or not an
 * execution uses it. Approvals of incidents are handled with the incident. Returns when to reconcile again.
 */
export async function reconcileRequestedApproval(
  approval: RemediationApprovalRequest,
  deps: RequestedApprovalDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { spec, status } = approval;
  if (spec.remediationRequestRef) return undefined;
  if (status) {
    await record(approval, status, deps, signal);
    return undefined;
  }
  const { client } = deps;
  const nowMs = client.serverNowMs();
  const leftMs = Date.parse(spec.requiredBy) - nowMs;
  if (leftMs > 0) return leftMs;
  await expireApproval(approval, nowMs, client, signal);
  return undefined;
}

/** Writes the expiry, unless the approval has changed since it was read. Returns whether it was written. */
export async function expireApproval(
  approval: RemediationApprovalRequest,
  nowMs: number,
  client: KubeClient,
  signal: AbortSignal,
): Promise<boolean> {
  const expired = { ...approval, status: { decision: "Expired" as const, decidedAt: iso(nowMs) } };
  const outcome = await client.update(remediationApprovalRequests, expired, { subresource: "status", signal });
  return outcome.kind === "updated";
}

/** The condition is written last: after a crash, or by two replicas, event and notice are created again with the same names. */
async function record(
  approval: RemediationApprovalRequest,
  status: NonNullable<RemediationApprovalRequest["status"]>,
  { client, ledger, answerersKnownSince }: RequestedApprovalDeps,
  signal: AbortSignal,
): Promise<void> {
  if (isRecorded(approval)) return;
  await ledger.append(requestAnswered(approval, status, await answerersKnownSince?.(signal)));
  if (status.decision === "Expired") await client.create(notificationRequests, requestExpired(approval), { signal });
  const recorded = { ...approval, status: withRecorded(status, status.decision, client.serverNowMs()) };
  await client.update(remediationApprovalRequests, recorded, { subresource: "status", signal });
}
