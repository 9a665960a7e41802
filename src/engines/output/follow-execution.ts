import type { KubeClient, PodLogs } from "../../kube/index.ts";
import type { WorkflowExecution, WorkflowExecutionStatus } from "../../resources/index.ts";
import { type Clock, type Random, sleep } from "../../time/index.ts";
import { followLogs } from "../local/follow-logs.ts";
import { isLocalRun } from "../local/local-marks.ts";
import { followPods } from "./follow-pods.ts";
import type { FollowStepsOptions, PrintLine } from "./step-line.ts";
import { type EndedStatus, whenEnded } from "./when-ended.ts";

export interface FollowOptions extends FollowStepsOptions {
  /** Has the permissions of the reader. */
  readonly client: KubeClient;
  /** The output of containers; undefined if the server has no kubelets. */
  readonly podLogs?: PodLogs | undefined;
  /** The data directory of the local engine; undefined if the reader must not read it. */
  readonly local: string | undefined;
  /** The namespace of runs. */
  readonly runsIn: string;
  readonly random: Random;
  /** Called with each problem that does not end the output. */
  readonly problem: (message: string) => void;
}

/** The run of an execution. */
export interface RunToFollow {
  readonly name: string;
  readonly uid: string;
  readonly kind: string;
}

/** The output of an execution that has ended is complete when there was no line for this time. */
const maxSilenceMs = 10_000;

/**
 * Prints the output of an execution while it runs, until the execution has ended and its output is complete. Returns the last
 * status; undefined if the execution was deleted or `signal` aborted. Throws if the permission to read the output is missing.
 */
export async function followExecution(
  execution: WorkflowExecution,
  options: FollowOptions,
): Promise<EndedStatus | undefined> {
  const { client, clock } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const runEnded = new AbortController();
  const output = new OutputActivity(options.print);
  let printing: Promise<void> | undefined;
  let fail = (_error: unknown) => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const seen = (status: WorkflowExecutionStatus | undefined) => {
    if (!status || !("pipelineRunRef" in status) || !status.pipelineRunRef) return;
    printing ??= followRun(status.pipelineRunRef, { ...options, signal, print: output.print }, runEnded.signal);
    printing.catch(fail);
  };
  const aborted = new Promise<undefined>((resolve) => {
    options.signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const ended = whenEnded(execution, { client, clock, signal, seen });
  // Of several failures only the first is thrown.
  for (const one of [ended, failed]) one.catch(() => {});
  try {
    const status = await Promise.race([ended, failed, aborted]);
    runEnded.abort();
    await Promise.race([printing, output.silence(clock, signal)]);
    return status;
  } catch (error) {
    if (options.signal.aborted) return undefined;
    throw error;
  } finally {
    stop.abort();
  }
}

/** Prints the output of a run until `runEnded` aborts, and all output up to then. */
export async function followRun(
  { name, uid, kind }: RunToFollow,
  options: FollowOptions,
  runEnded: AbortSignal,
): Promise<void> {
  const { client, podLogs, local: dataDir, runsIn: namespace } = options;
  const run = { name, uid, kind, namespace };
  if (dataDir !== undefined && (await isLocalRun(client, { run, dataDir }))) {
    return await followLogs({ ...options, dataDir, runUid: uid, runEnded });
  }
  if (podLogs) await followPods({ ...options, podLogs, run, runEnded });
}

/** Detects the end of output. A line that is still being printed counts as activity. */
class OutputActivity {
  readonly #print: PrintLine;
  #lines = 0;
  #printing = 0;

  constructor(print: PrintLine) {
    this.#print = print;
  }

  readonly print: PrintLine = async (line) => {
    this.#lines++;
    this.#printing++;
    try {
      await this.#print(line);
    } finally {
      this.#printing--;
    }
  };

  /** Resolves when there was no line for `maxSilenceMs`, or when `signal` aborts. */
  async silence(clock: Clock, signal: AbortSignal): Promise<void> {
    let before: number;
    do {
      before = this.#lines;
      await sleep(clock, maxSilenceMs, signal, { background: true }).catch(() => {});
    } while (!signal.aborted && (this.#printing > 0 || this.#lines > before));
  }
}
