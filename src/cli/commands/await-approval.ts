import { type RemediationApprovalRequest, remediationApprovalRequests } from "../../resources/index.ts";
import { CommandError, type ServerContext } from "../command.ts";
import { showElapsed } from "./follow.ts";

/** Waits until an approval is answered. Throws CommandError unless it is approved. */
export async function awaitApproval(
  { metadata, spec }: RemediationApprovalRequest,
  context: Pick<ServerContext, "client" | "clock" | "terminal">,
): Promise<void> {
  const { client, clock } = context;
  const { name = "", namespace = "" } = metadata;
  const stopProgress = showElapsed(() => `waiting for approval ${name} until ${spec.requiredBy}`, context);
  const deadline = new AbortController();
  const timer = clock.after(Math.max(0, Date.parse(spec.requiredBy) - client.serverNowMs()), () => deadline.abort());
  try {
    const status = await waitForAnswer({ name, namespace }, client, deadline.signal);
    if (status.decision === "Approved") return;
    if (status.decision === "Expired") throw expiredError(name, spec);
    const { decidedBy, decisionMessage } = status;
    throw new CommandError(`approval ${name} is Rejected by ${decidedBy}: ${decisionMessage}; nothing was started`);
  } catch (error) {
    throw deadline.signal.aborted ? expiredError(name, spec) : error;
  } finally {
    timer.cancel();
    stopProgress();
  }
}

function expiredError(name: string, { requiredBy }: RemediationApprovalRequest["spec"]): CommandError {
  return new CommandError(`approval ${name} was not answered by ${requiredBy}; nothing was started`);
}

type ApprovalStatus = NonNullable<RemediationApprovalRequest["status"]>;

async function waitForAnswer(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  client: ServerContext["client"],
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
