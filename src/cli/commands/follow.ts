import type { KubeClient } from "../../kube/index.ts";
import {
  skipText,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
  workflowExecutions,
} from "../../resources/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { type ExitName, exitStatus } from "../exit-status.ts";
import { shortNames } from "../parsing/short-name.ts";

/** An executor that runs admits sooner. */
const patienceMs = 5_000;

/** Prints how an execution comes along, until it has ended. Returns the exit status. */
export async function follow(execution: WorkflowExecution, desk: Pick<Desk, "client" | "terminal" | "clock">) {
  const { terminal, clock } = desk;
  let last = "";
  const impatience = clock.after(patienceMs, () => {
    if (last === "") terminal.print("still waiting to be admitted: is an executor running?");
  });
  return await ended(execution, desk.client, tell).finally(() => impatience.cancel());

  function tell(status: WorkflowExecutionStatus | undefined): number | undefined {
    const line = shortNames(lineOf(status));
    if (line !== last) terminal.print(line);
    last = line;
    const end = status && ends[status.phase];
    return end && exitStatus(end);
  }
}

/** Shows `tell` each status until it has an answer. */
async function ended(
  execution: WorkflowExecution,
  client: KubeClient,
  tell: (status: WorkflowExecutionStatus | undefined) => number | undefined,
): Promise<number> {
  const { name = "", namespace = "", uid } = execution.metadata;
  for (;;) {
    const { items, resourceVersion } = await client.list(workflowExecutions, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    const [found] = items;
    if (found?.metadata.uid !== uid) throw new CommandError(`execution ${name} was deleted`);
    const ended = tell(found?.status);
    if (ended !== undefined) return ended;
    const query = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion };
    for await (const event of client.watch(workflowExecutions, query)) {
      if (event.type === "DELETED") throw new CommandError(`execution ${name} was deleted`);
      const ended = event.type === "BOOKMARK" ? undefined : tell(event.object.status);
      if (ended !== undefined) return ended;
    }
  }
}

const ends: Partial<Record<WorkflowExecutionStatus["phase"], ExitName>> = {
  Completed: "ok",
  Failed: "failed",
  Skipped: "skipped",
};

function lineOf(status: WorkflowExecutionStatus | undefined): string {
  switch (status?.phase) {
    case undefined:
    case "Pending":
      return "";
    case "Running": {
      const { completedTasks, totalTasks } = status.pipelineRunStatus ?? {};
      const progress = totalTasks === undefined ? "" : `, ${completedTasks ?? 0} of ${totalTasks} tasks done`;
      return `running as ${status.pipelineRunRef.kind} ${status.pipelineRunRef.name}${progress}`;
    }
    case "Completed":
      return `completed in ${status.duration}`;
    case "Failed":
      return `failed: ${status.failureDetails.naturalLanguageSummary}`;
    case "Skipped":
      return `skipped, ${skipText(status.skipDetails)}: ${status.skipDetails.message}`;
  }
}
