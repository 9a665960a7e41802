import { type KubeClient, KubeError } from "../../kube/index.ts";
import { type RemediationApprovalRequest, remediationApprovalRequests } from "../../resources/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { ownName } from "../own-name.ts";
import { isNamed, shortNames } from "../parsing/short-name.ts";

/** `interlock approve` */
export const approve = answering("Approved");

/** `interlock reject` */
export const reject = answering("Rejected");

function answering(decision: "Approved" | "Rejected") {
  return async (
    { client, terminal }: Desk,
    subject: string,
    { reason }: { readonly reason: string },
  ): Promise<number> => {
    const question = await openQuestion(subject, client);
    const decidedBy = await ownName({ client, terminal });
    await answer(question, { decision, decidedBy, decisionMessage: reason }, client);
    const { recommendedWorkflow, targetResource } = question.spec;
    const what = `${recommendedWorkflow.workflowId} on ${targetResource}`;
    terminal.print(`${shortNames(question.metadata.name ?? "")} is ${decision} by ${decidedBy}: ${what}`);
    return 0;
  };
}

/** The question of that name, or the one that an incident waits for. */
async function openQuestion(subject: string, client: KubeClient): Promise<RemediationApprovalRequest> {
  const { items } = await client.list(remediationApprovalRequests);
  const named = items.find(({ metadata }) => isNamed(subject, metadata.name ?? ""));
  if (named) return stillOpen(named, client);
  const asked = items.filter(({ spec }) => isNamed(subject, spec.remediationRequestRef?.name ?? ""));
  const open = asked.filter((question) => !question.status);
  const [only, another] = open;
  if (only && !another) return stillOpen(only, client);
  if (another)
    throw new CommandError(shortNames(`${subject} waits for ${open.map(({ metadata }) => metadata.name).join(", ")}`));
  const last = asked.at(-1);
  if (last) return stillOpen(last, client);
  throw new CommandError(
    `there is no approval ${subject}, and no incident of that name waits for one; see: interlock get approvals`,
  );
}

function stillOpen(question: RemediationApprovalRequest, client: KubeClient): RemediationApprovalRequest {
  const { metadata, spec, status } = question;
  const name = shortNames(metadata.name ?? "");
  if (status) throw new CommandError(`${name} was answered already: ${status.decision} at ${status.decidedAt}`);
  if (Date.parse(spec.requiredBy) > client.serverNowMs()) return question;
  throw new CommandError(`${name} was to be answered by ${spec.requiredBy}; no answer was a no`);
}

async function answer(
  { metadata }: RemediationApprovalRequest,
  given: { decision: "Approved" | "Rejected"; decidedBy: string; decisionMessage: string },
  client: KubeClient,
) {
  const ref = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
  const decidedAt = new Date(client.serverNowMs()).toISOString();
  const status = { ...given, decidedVia: "command line", decidedAt };
  const patch = { merge: { metadata: { resourceVersion: metadata.resourceVersion }, status } };
  const outcome = await client
    .patch(remediationApprovalRequests, ref, patch, { subresource: "status" })
    .catch((error: unknown) => {
      if (error instanceof KubeError && error.code === "invalid") throw new CommandError(error.message);
      throw error;
    });
  if (outcome.kind !== "updated")
    throw new CommandError(`${ref.name} was answered meanwhile; see: interlock get approvals`);
}
