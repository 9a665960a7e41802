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
  type OperationResult,
  type Order,
  objectKey,
} from "../operation.ts";
import { onObject } from "../request/index.ts";
import { type VersionedChange, writeAtVersion } from "../write-at-version.ts";

const schema = z.strictObject(onObject);

type AnswerOrder = Order<Wire<typeof schema>>;
type Decision = "Approved" | "Rejected";

/** Approves a workflow that waits for a person. */
export const approve = answerWith("Approved");

/** Rejects a workflow that waits for a person. */
export const reject = answerWith("Rejected");

function answerWith(decision: Decision): Operation {
  return defineOperation({ schema, perform: (order) => answer(decision, order) });
}

async function answer(decision: Decision, order: AnswerOrder): Promise<OperationResult> {
  const { request, caller, context } = order;
  const found = await findApproval(readObjectName(request.object), { decision, by: caller.name }, context.client);
  await writeAtVersion(remediationApprovalRequests, found, order, (current) => answerChange(current, decision, order));
  const { recommendedWorkflow, targetResource } = found.spec;
  const what = `${recommendedWorkflow.workflowId} on ${targetResource}`;
  const name = shortNames(found.metadata.name ?? "");
  const message = `${name} ${isOrWouldBe(order)} ${decision} by ${caller.name}: ${what}`;
  return { message, kind: "approvals", object: objectKey(found) };
}

/** An answer is given once. The same answer of the same caller is one that arrives again. */
function answerChange(
  current: RemediationApprovalRequest,
  decision: Decision,
  { request, caller, context }: AnswerOrder,
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
    const message = `${name} was to be answered by ${spec.requiredBy}; no answer was a no`;
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

/** The approval of that name, or the one that an incident waits for; else its last one, which shows how it was answered. */
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
