import { iso, type KubeClient } from "../../kube/index.ts";
import { type RemediationApprovalRequest, remediationApprovalRequests } from "../../resources/index.ts";
import { isNamed, shortNames } from "../../resources/short-names/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import { OperationError } from "../errors/index.ts";
import { type ObjectName, readObjectName } from "../find/index.ts";
import {
  defineOperation,
  isOrWouldBe,
  type Operation,
  type OperationCall,
  type OperationResult,
  objectKey,
} from "../operation.ts";
import { onObject } from "../request/index.ts";
import { type VersionedChange, writeAtVersion } from "../write-at-version.ts";

const schema = z.strictObject(onObject);

type ApprovalCall = OperationCall<Wire<typeof schema>>;
type Decision = "Approved" | "Rejected";

/** Approves a workflow that waits for an operator. */
export const approve = answerOperation("Approved");

/** Rejects a workflow that waits for an operator. */
export const reject = answerOperation("Rejected");

function answerOperation(decision: Decision): Operation {
  return defineOperation({ schema, perform: (call) => writeAnswer(decision, call) });
}

async function writeAnswer(decision: Decision, call: ApprovalCall): Promise<OperationResult> {
  const { request, caller, context } = call;
  const found = await findApproval(readObjectName(request.object), { decision, by: caller.name }, context.client);
  await writeAtVersion(remediationApprovalRequests, found, call, (current) => answerChange(current, decision, call));
  const { recommendedWorkflow, targetResource } = found.spec;
  const what = `${recommendedWorkflow.workflowId} on ${targetResource}`;
  const name = shortNames(found.metadata.name ?? "");
  const message = `${name} ${isOrWouldBe(call)} ${decision} by ${caller.name}: ${what}`;
  return { message, kind: "approvals", object: objectKey(found) };
}

/** An approval is answered once. The same answer of the same caller is a repeated request. */
function answerChange(
  current: RemediationApprovalRequest,
  decision: Decision,
  { request, caller, context }: ApprovalCall,
): VersionedChange | undefined {
  const { metadata, spec, status } = current;
  const name = shortNames(metadata.name ?? "");
  if (isAnswer(current, { decision, by: caller.name })) return undefined;
  if (status) {
    const by = "decidedBy" in status ? ` by ${status.decidedBy}` : "";
    const message = `${name} was answered already: ${status.decision}${by} at ${status.decidedAt}`;
    throw new OperationError("conflict", message, { current });
  }
  const nowMs = context.client.serverNowMs();
  if (Date.parse(spec.requiredBy) <= nowMs) {
    const message = `${name} expired at ${spec.requiredBy} without an answer`;
    throw new OperationError("conflict", message, { current });
  }
  const answer = { decision, decidedBy: caller.name, decidedVia: caller.via, decisionMessage: request.reason };
  return { status: { ...answer, decidedAt: iso(nowMs) } };
}

interface ApprovalAnswer {
  readonly decision: Decision;
  readonly by: string;
}

function isAnswer({ status }: RemediationApprovalRequest, { decision, by }: ApprovalAnswer): boolean {
  return status !== undefined && "decidedBy" in status && status.decidedBy === by && status.decision === decision;
}

/** The approval of that name, or the open approval of that incident; if it has none, the one with this answer or the last one. */
async function findApproval(
  { name, namespace }: ObjectName,
  answer: ApprovalAnswer,
  client: KubeClient,
): Promise<RemediationApprovalRequest> {
  const exact = namespace && (await client.get(remediationApprovalRequests, { name, namespace }));
  if (exact) return exact;
  const { items } = await client.list(remediationApprovalRequests, namespace ? { namespace } : {});
  const named = items.find(({ metadata }) => isNamed(name, metadata.name ?? ""));
  if (named) return named;
  const asked = items.filter(({ spec }) => isNamed(name, spec.remediationRequestRef?.name ?? ""));
  const open = asked.filter(({ status }) => !status);
  if (open.length > 1) {
    const names = open.map(({ metadata }) => metadata.name).join(", ");
    throw new OperationError("invalid", shortNames(`${name} waits for ${names}`), { hint: "name one of them" });
  }
  const found = open[0] ?? asked.find((one) => isAnswer(one, answer)) ?? asked.at(-1);
  if (found) return found;
  throw new OperationError("not-found", `there is no approval ${name}, and no incident of that name waits for one`, {
    hint: "see: interlock get approvals",
  });
}
