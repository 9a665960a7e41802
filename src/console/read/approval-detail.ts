import { redactValues, remediationApprovalRequests } from "../../resources/index.ts";
import { toApprovalRow } from "../rows/index.ts";
import type { ApprovalDetail } from "../wire.ts";
import type { NamedObject } from "./incident-detail.ts";
import type { ReadContext } from "./read-context.ts";
import { readEntry, shownParameters } from "./shown-parameters.ts";

/** What an approval allows: the workflow with its parameters, and why it was chosen; undefined if there is none of that name. */
export async function readApproval(ref: NamedObject, context: ReadContext): Promise<ApprovalDetail | undefined> {
  const approval = await context.client.get(remediationApprovalRequests, ref);
  if (!approval) return undefined;
  const { recommendedWorkflow, whyApprovalRequired, investigationSummary } = approval.spec;
  const { parameters = {}, rationale } = recommendedWorkflow;
  const entry = await readEntry(recommendedWorkflow, context);
  const withoutSecrets = (text: string) => redactValues(text, parameters, entry);
  return {
    row: toApprovalRow(approval),
    whyRequired: withoutSecrets(whyApprovalRequired),
    ...(rationale !== undefined && { rationale: withoutSecrets(rationale) }),
    ...(investigationSummary !== undefined && { summary: withoutSecrets(investigationSummary) }),
    parameters: shownParameters(parameters, entry),
  };
}
