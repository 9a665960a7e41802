import { followLogs, followPods, isLocalRun, type LineFilter, type StepLine } from "../../engines/index.ts";
import type { WorkflowExecution, WorkflowExecutionStatus } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { sleep } from "../../time/index.ts";
import type { Desk } from "../command.ts";
import { exitStatus } from "../exit-status.ts";
import { describeProgress, endStatus, whenEnded } from "./follow.ts";

interface OutputQuery {
  /** Where the local engine keeps its runs. */
  readonly local: string;
  readonly filter: LineFilter;
}

/** The run of an execution. */
interface Run {
  readonly name: string;
  readonly uid: string;
  readonly kind: string;
}

/** The output of an execution that has ended is complete soon after. */
const completeWithinMs = 10_000;

/** Prints the output of an execution as it is written, until it has ended. Returns the exit status of `interlock run`. */
export async function followExecution(execution: WorkflowExecution, query: OutputQuery, desk: Desk): Promise<number> {
  const { terminal, clock } = desk;
  const stop = new AbortController();
  const signal = AbortSignal.any([desk.interrupted(), stop.signal]);
  const runEnded = new AbortController();
  let printing: Promise<void> | undefined;
  let last: WorkflowExecutionStatus | undefined;
  const stopped = new Promise<number>((resolve) => {
    signal.addEventListener("abort", () => resolve(exitStatus("interrupted")), { once: true });
  });
  let failed = (_error: unknown) => {};
  const unreadable = new Promise<never>((_, reject) => {
    failed = reject;
  });
  const ended = whenEnded(execution, desk, (status) => {
    last = status;
    if (status && "pipelineRunRef" in status && status.pipelineRunRef) {
      printing ??= printOutput(status.pipelineRunRef, query, { desk, signal, runEnded: runEnded.signal });
      printing.catch(failed);
    }
    return endStatus(status);
  });
  // Of several failures only the first is reported.
  for (const one of [ended, unreadable]) one.catch(() => {});
  try {
    const status = await Promise.race([ended, stopped, unreadable]);
    runEnded.abort();
    if (!signal.aborted) {
      await Promise.race([printing, sleep(clock, completeWithinMs, signal, { background: true }).catch(() => {})]);
      terminal.printError(shortNames(describeProgress(last)));
    }
    return status;
  } finally {
    stop.abort();
  }
}

/** Prints what there is of a run's output, each line with its task and step. Returns whether there was any. */
export async function printRun(run: Run, query: OutputQuery, desk: Desk): Promise<boolean> {
  let hasPrinted = false;
  const { signal } = new AbortController();
  const printed = () => {
    hasPrinted = true;
  };
  await printOutput(run, query, { desk, signal, runEnded: AbortSignal.abort(), printed });
  return hasPrinted;
}

interface Printing {
  readonly desk: Desk;
  readonly signal: AbortSignal;
  readonly runEnded: AbortSignal;
  /** Called for each line. */
  readonly printed?: () => void;
}

async function printOutput({ name, uid, kind }: Run, query: OutputQuery, printing: Printing): Promise<void> {
  const { desk, signal, runEnded, printed } = printing;
  const { client, podLogs, clock, random, terminal, recordsIn: namespace } = desk;
  const { local, filter } = query;
  const print = (line: StepLine) => {
    printed?.();
    terminal.printOutput(lineText(line));
  };
  const run = { name, uid, kind, namespace };
  if (await isLocalRun(client, { run, dataDir: local })) {
    return await followLogs({ dataDir: local, runUid: uid, filter, clock, signal, runEnded, print });
  }
  if (!podLogs) return;
  const problem = (message: string) => terminal.printError(message);
  await followPods({ client, podLogs, run, filter, clock, random, signal, runEnded, print, problem });
}

function lineText({ task, attempt, step, text }: StepLine): string {
  return `${task}/${step}${attempt > 1 ? `#${attempt}` : ""} ${text}\n`;
}
