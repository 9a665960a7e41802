import { type KubeClient, KubeError } from "../../kube/index.ts";
import { type WorkflowExecution, type WorkflowExecutionStatus, workflowExecutions } from "../../resources/index.ts";
import { type Clock, sleep } from "../../time/index.ts";

/** The status of an execution that has ended. */
export type EndedStatus = Extract<WorkflowExecutionStatus, { readonly phase: "Completed" | "Failed" | "Skipped" }>;

export interface WhenEndedOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Stops the wait when it aborts: the function throws. */
  readonly signal?: AbortSignal;
  /** Called with each status, the last one included. */
  readonly seen: (status: WorkflowExecutionStatus | undefined) => void;
}

/** Between attempts to watch an execution again. */
const retryMs = 250;

/** Waits until an execution has ended. Returns its last status; undefined if it was deleted. A broken watch is opened again. */
export async function whenEnded(
  { metadata }: WorkflowExecution,
  { client, clock, signal, seen }: WhenEndedOptions,
): Promise<EndedStatus | undefined> {
  const { name = "", namespace = "", uid } = metadata;
  const query = { namespace, fieldSelector: `metadata.name=${name}` };
  const call = signal ? { signal } : {};
  for (;;) {
    const { items, resourceVersion } = await client.list(workflowExecutions, query, call);
    const [found] = items;
    if (!found || found.metadata.uid !== uid) return undefined;
    const { status } = found;
    seen(status);
    if (hasEnded(status)) return status;
    signal?.throwIfAborted();
    try {
      for await (const event of client.watch(workflowExecutions, { ...query, resourceVersion }, call)) {
        if (event.type === "DELETED") return undefined;
        if (event.type === "BOOKMARK") continue;
        const { status } = event.object;
        seen(status);
        if (hasEnded(status)) return status;
      }
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "unavailable" && error.code !== "gone")) throw error;
      await sleep(clock, retryMs, signal);
    }
  }
}

function hasEnded(status: WorkflowExecutionStatus | undefined): status is EndedStatus {
  return status?.phase === "Completed" || status?.phase === "Failed" || status?.phase === "Skipped";
}
