import {
  managedBy,
  type ParameterValue,
  type RemediationApprovalRequest,
  type RemediationWorkflow,
  remediationApprovalRequests,
} from "../../resources/index.ts";
import { parseDuration } from "../../time/index.ts";
import { CommandError, type Desk } from "../command.ts";

export interface ApprovalDraft {
  readonly name: string;
  readonly entry: RemediationWorkflow;
  /** In canonical form. */
  readonly target: string;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

/** Asks for the approval of one run that a person wants. It is asked where incidents are: only there an answer counts. */
export async function requestApproval(
  { name, entry, target, parameters }: ApprovalDraft,
  { client, incidentsIn, approvalExpiresAfterMs, terminal }: Desk,
): Promise<RemediationApprovalRequest> {
  const { workflowId, version, approval } = entry.spec;
  const waitMs = parseDuration(approval?.expiresAfter ?? "") ?? approvalExpiresAfterMs;
  const outcome = await client.create(remediationApprovalRequests, {
    apiVersion: remediationApprovalRequests.apiVersion,
    kind: remediationApprovalRequests.kind,
    metadata: { name, namespace: incidentsIn, labels: { [managedBy.label]: managedBy.value } },
    spec: {
      targetResource: target,
      recommendedWorkflow: { workflowId, version, parameters, rationale: `${terminal.user} wants to run it` },
      whyApprovalRequired: `workflow ${workflowId} requires an approval before each run`,
      requiredBy: new Date(client.serverNowMs() + waitMs).toISOString(),
    },
  });
  if (outcome.kind === "already-exists") throw new CommandError(`the name ${name} is taken; try again`);
  return outcome.object;
}

/** Waits until the question is answered. Throws CommandError unless the answer is yes. */
export async function awaitApproval(
  { metadata, spec }: RemediationApprovalRequest,
  { client, clock }: Pick<Desk, "client" | "clock">,
): Promise<void> {
  const { name = "", namespace = "" } = metadata;
  const over = new AbortController();
  const timer = clock.after(Math.max(0, Date.parse(spec.requiredBy) - client.serverNowMs()), () => over.abort());
  try {
    const status = await answerTo({ name, namespace }, client, over.signal);
    if (status.decision === "Approved") return;
    if (status.decision === "Expired") throw unanswered(name, spec);
    const { decidedBy, decisionMessage } = status;
    throw new CommandError(`approval ${name} is Rejected by ${decidedBy}: ${decisionMessage}; nothing was started`);
  } catch (error) {
    throw over.signal.aborted ? unanswered(name, spec) : error;
  } finally {
    timer.cancel();
  }
}

function unanswered(name: string, { requiredBy }: RemediationApprovalRequest["spec"]): CommandError {
  return new CommandError(`approval ${name} was not answered by ${requiredBy}; nothing was started`);
}

type ApprovalStatus = NonNullable<RemediationApprovalRequest["status"]>;

async function answerTo(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  client: Desk["client"],
  signal: AbortSignal,
): Promise<ApprovalStatus> {
  const query = { namespace, fieldSelector: `metadata.name=${name}` };
  for (;;) {
    const { items, resourceVersion } = await client.list(remediationApprovalRequests, query, { signal });
    const [found] = items;
    if (!found) throw new CommandError(`approval ${name} was deleted; nothing was started`);
    if (found.status) return found.status;
    for await (const event of client.watch(remediationApprovalRequests, { ...query, resourceVersion }, { signal })) {
      if (event.type === "DELETED") throw new CommandError(`approval ${name} was deleted; nothing was started`);
      if (event.type !== "BOOKMARK" && event.object.status) return event.object.status;
    }
    signal.throwIfAborted();
  }
}
