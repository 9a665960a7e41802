import { type KubeClient, KubeError } from "../../kube/index.ts";
import { type RemediationApprovalRequest, remediationApprovalRequests } from "../../resources/index.ts";
import { isNamed, shortNames } from "../../resources/short-names/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import { ownName } from "../own-name.ts";
import { bareName } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/namespace.ts";

interface AnswerOptions extends NamespaceOptions {
  readonly reason: string;
}

/** `interlock approve` */
export async function approve(desk: Desk, subjects: readonly string[], options: AnswerOptions): Promise<number> {
  return answerEach("Approved", subjects, options, desk);
}

/** `interlock reject` */
export async function reject(desk: Desk, subjects: readonly string[], options: AnswerOptions): Promise<number> {
  return answerEach("Rejected", subjects, options, desk);
}

async function answerEach(
  decision: "Approved" | "Rejected",
  subjects: readonly string[],
  options: AnswerOptions,
  desk: Desk,
): Promise<number> {
  const { client, terminal } = desk;
  const namespace = searchedNamespace(options, desk);
  const decidedBy = await ownName(desk);
  return forEachName(subjects, desk, async (subject) => {
    const question = await findOpenApproval(bareName(subject), namespace, client);
    await answer(question, { decision, decidedBy, decisionMessage: options.reason }, client);
    const { recommendedWorkflow, targetResource } = question.spec;
    const what = `${recommendedWorkflow.workflowId} on ${targetResource}`;
    terminal.print(`${shortNames(question.metadata.name ?? "")} is ${decision} by ${decidedBy}: ${what}`);
  });
}

/** The approval of that name, or the one that an incident waits for. */
async function findOpenApproval(
  subject: string,
  namespace: string | undefined,
  client: KubeClient,
): Promise<RemediationApprovalRequest> {
  const { items } = await client.list(remediationApprovalRequests, namespace ? { namespace } : {});
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
