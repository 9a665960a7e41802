import { type EndedStatus, whenEnded } from "../../engines/index.ts";
import {
  describeStall,
  findStall,
  skipText,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
} from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { formatDuration } from "../../time/index.ts";
import { CommandError, type ExitName, exitStatus, type ServerContext } from "../command.ts";

/** A running executor admits an execution sooner. */
const hintAfterMs = 5_000;

/** Prints the progress of an execution until it has ended. Returns the exit status. */
export async function follow(
  execution: WorkflowExecution,
  context: Pick<ServerContext, "client" | "terminal" | "clock">,
) {
  const { client, terminal, clock } = context;
  let last = "";
  const hint = clock.after(hintAfterMs, () => {
    if (last === "") terminal.print("still waiting to be admitted; see: interlock status");
  });
  const stopProgress = showElapsed(() => last || "waiting to be admitted", context);
  const ended = await whenEnded(execution, { client, clock, seen: printProgress }).finally(() => {
    hint.cancel();
    stopProgress();
  });
  if (!ended) throw deletedError(execution);
  return endStatus(ended);

  function printProgress(status: WorkflowExecutionStatus | undefined): void {
    const line = shortNames(describeProgress(status));
    if (line !== last && line !== "") terminal.print(line);
    last = line;
  }
}

/** Shows the elapsed time as progress. Returns the function that stops it. */
export function showElapsed(
  activity: () => string,
  { terminal, clock }: Pick<ServerContext, "terminal" | "clock">,
): () => void {
  const since = clock.now();
  let timer = clock.after(secondMs, tick);
  return () => {
    timer.cancel();
    terminal.progress.clear();
  };

  function tick() {
    const seconds = Math.round((clock.now() - since) / secondMs);
    terminal.progress.show(`${activity()}; ${formatDuration(seconds * secondMs)} so far`);
    timer = clock.after(secondMs, tick);
  }
}

const secondMs = 1_000;

/** The error for an execution that was deleted before its end. */
export function deletedError({ metadata }: WorkflowExecution): CommandError {
  return new CommandError(`execution ${metadata.name} was deleted`);
}

const ends: Readonly<Record<EndedStatus["phase"], ExitName>> = {
  Completed: "ok",
  Failed: "failed",
  Skipped: "skipped",
};

/** The exit status for an execution that has ended. */
export function endStatus({ phase }: EndedStatus): number {
  return exitStatus(ends[phase]);
}

/** The state of an execution as a clause. */
export function describeProgress(status: WorkflowExecutionStatus | undefined): string {
  switch (status?.phase) {
    case undefined:
    case "Pending": {
      const stall = findStall({ status });
      return stall ? `waiting to be admitted: ${describeStall(stall)}` : "";
    }
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
