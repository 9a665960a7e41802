import {
  type FollowOptions,
  followExecution,
  followRun,
  type LineFilter,
  type RunToFollow,
  type StepLine,
} from "../../engines/index.ts";
import type { WorkflowExecution } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { exitStatus, type ServerContext } from "../command.ts";
import { deletedError, describeProgress, endStatus } from "./follow.ts";

interface OutputQuery {
  /** Where the local engine keeps its runs. */
  readonly local: string;
  readonly filter: LineFilter;
}

/** Prints the output of an execution as it is written, until it has ended. Returns the exit status of `interlock run`. */
export async function printExecution(
  execution: WorkflowExecution,
  query: OutputQuery,
  context: ServerContext,
): Promise<number> {
  const signal = context.interrupted();
  const ended = await followExecution(execution, followOptions(query, context, signal));
  if (ended) {
    context.terminal.printError(shortNames(describeProgress(ended)));
    return endStatus(ended);
  }
  if (signal.aborted) return exitStatus("interrupted");
  throw deletedError(execution);
}

/** Prints the existing output of a run, each line with its task and step. Returns whether there was any. */
export async function printRun(run: RunToFollow, query: OutputQuery, context: ServerContext): Promise<boolean> {
  let hasPrinted = false;
  const { print, ...options } = followOptions(query, context, new AbortController().signal);
  const printAndNote = (line: StepLine) => {
    hasPrinted = true;
    return print(line);
  };
  await followRun(run, { ...options, print: printAndNote }, AbortSignal.abort());
  return hasPrinted;
}

function followOptions({ local, filter }: OutputQuery, context: ServerContext, signal: AbortSignal): FollowOptions {
  const { client, podLogs, clock, random, terminal, recordsIn } = context;
  return {
    ...{ client, podLogs, local, filter, clock, random, signal },
    runsIn: recordsIn,
    print: (line) => terminal.printOutput(lineText(line)),
    problem: (message) => terminal.printError(message),
  };
}

function lineText({ task, attempt, step, text }: StepLine): string {
  return `${task}/${step}${attempt > 1 ? `#${attempt}` : ""} ${text}\n`;
}
