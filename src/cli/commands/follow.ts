import { KubeError } from "../../kube/index.ts";
import {
  skipText,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
  workflowExecutions,
} from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { formatDuration, sleep } from "../../time/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { type ExitName, exitStatus } from "../exit-status.ts";

/** An executor that runs admits sooner. */
const patienceMs = 5_000;

/** Prints how an execution comes along, until it has ended. Returns the exit status. */
export async function follow(execution: WorkflowExecution, desk: Pick<Desk, "client" | "terminal" | "clock">) {
  const { terminal, clock } = desk;
  let last = "";
  const impatience = clock.after(patienceMs, () => {
    if (last === "") terminal.print("still waiting to be admitted: is an executor running?");
  });
  const stopCounting = showElapsed(() => last || "waiting to be admitted", desk);
  return await whenEnded(execution, desk, tell).finally(() => {
    impatience.cancel();
    stopCounting();
  });

  function tell(status: WorkflowExecutionStatus | undefined): number | undefined {
    const line = shortNames(describeProgress(status));
    if (line !== last) terminal.print(line);
    last = line;
    return endStatus(status);
  }
}

/** Shows as progress how long something takes. Returns what ends that. */
export function showElapsed(what: () => string, { terminal, clock }: Pick<Desk, "terminal" | "clock">): () => void {
  const since = clock.now();
  let timer = clock.after(secondMs, tick);
  return () => {
    timer.cancel();
    terminal.progress.clear();
  };

  function tick() {
    const seconds = Math.round((clock.now() - since) / secondMs);
    terminal.progress.show(`${what()}; ${formatDuration(seconds * secondMs)} so far`);
    timer = clock.after(secondMs, tick);
  }
}

const secondMs = 1_000;

/** Between attempts to watch an execution again. */
const retryMs = 250;

/** Shows `tell` each status until it has an answer. A lost connection is opened again. */
export async function whenEnded(
  execution: WorkflowExecution,
  { client, clock }: Pick<Desk, "client" | "clock">,
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
    try {
      for await (const event of client.watch(workflowExecutions, query)) {
        if (event.type === "DELETED") throw new CommandError(`execution ${name} was deleted`);
        const ended = event.type === "BOOKMARK" ? undefined : tell(event.object.status);
        if (ended !== undefined) return ended;
      }
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "unavailable" && error.code !== "gone")) throw error;
      await sleep(clock, retryMs);
    }
  }
}

const ends: Partial<Record<WorkflowExecutionStatus["phase"], ExitName>> = {
  Completed: "ok",
  Failed: "failed",
  Skipped: "skipped",
};

/** The exit status for an execution that has ended; undefined for one that has not. */
export function endStatus(status: WorkflowExecutionStatus | undefined): number | undefined {
  const end = status && ends[status.phase];
  return end && exitStatus(end);
}

/** The state of an execution in a sentence without its full stop. */
export function describeProgress(status: WorkflowExecutionStatus | undefined): string {
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
