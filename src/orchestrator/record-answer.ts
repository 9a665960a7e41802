import type { KubeClient } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { type RemediationApprovalRequest, remediationApprovalRequests } from "../resources/index.ts";
import { answeredByHand } from "./ledger-events.ts";
import type { AnswerersKnownSince } from "./observe.ts";
import { isRecorded, withRecorded } from "./statuses.ts";

export interface AnswerRecorder {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  readonly answerersKnownSince?: AnswerersKnownSince | undefined;
}

/**
 * Puts the answer to an approval into the ledger that a person requested with `interlock run`, whether or not an execution uses
 * it. Answers for incidents are recorded with the incident. The condition is written last: after a crash, or by two replicas,
 * the same event is recorded again under the same id.
 */
export async function recordAnswer(
  approval: RemediationApprovalRequest,
  { client, ledger, answerersKnownSince }: AnswerRecorder,
  signal: AbortSignal,
): Promise<void> {
  const { spec, status } = approval;
  if (spec.remediationRequestRef || !status || isRecorded(approval)) return;
  await ledger.append(answeredByHand(approval, status, await answerersKnownSince?.(signal)));
  const recorded = { ...approval, status: withRecorded(status, status.decision, client.serverNowMs()) };
  await client.update(remediationApprovalRequests, recorded, { subresource: "status", signal });
}
