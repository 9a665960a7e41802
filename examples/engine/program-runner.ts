import { informer, iso, type KubeClient, refOf } from "../../src/kube/index.ts";
import { runChild } from "../../src/process/index.ts";
import { labelKeys } from "../../src/resources/index.ts";
import type { Clock, Random } from "../../src/time/index.ts";
import { type ProgramRun, programRuns } from "./program-engine.ts";

export interface ProgramRunnerOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly problem: (message: string) => void;
}

/** Executes the runs of `programEngine`. There must be one runner per namespace; it does not survive a crash. */
export function startProgramRunner(options: ProgramRunnerOptions): { stop(): Promise<void> } {
  const { client, namespace, clock, random, problem } = options;
  const stop = new AbortController();
  const programs = new Map<string, { readonly cancel: AbortController; readonly ended: Promise<void> }>();
  const runs = informer({
    ...{ client, clock, random, signal: stop.signal, type: programRuns },
    query: { namespace, labelSelector: `${labelKeys.engine}=local` },
    problem: ({ message }) => problem(message),
  });

  runs.subscribe((event, run) => {
    const { uid = "" } = run.metadata;
    const running = programs.get(uid);
    if (running && (event === "DELETED" || run.data.cancel)) running.cancel.abort();
    if (running || event === "DELETED" || run.data.phase !== "started") return;
    const cancel = new AbortController();
    const ended = execute(run, { ...options, signal: cancel.signal }).catch((error) => problem(String(error)));
    programs.set(uid, { cancel, ended });
    if (run.data.cancel) cancel.abort();
  });

  return {
    async stop() {
      stop.abort();
      for (const { cancel } of programs.values()) cancel.abort();
      await Promise.all([...programs.values()].map(({ ended }) => ended));
    },
  };
}

interface ExecuteOptions extends ProgramRunnerOptions {
  readonly signal: AbortSignal;
}

/** Writes the end of the run after the whole process group has ended: only then may another run act on the target. */
async function execute(run: ProgramRun, { client, clock, signal }: ExecuteOptions): Promise<void> {
  const write = (data: Readonly<Record<string, string | null>>) =>
    client.patch(programRuns, refOf(run), { merge: { metadata: { uid: run.metadata.uid }, data } });
  await write({ startedAt: iso(clock.wallMs()) });

  const timeout = new AbortController();
  const timer = clock.after(Number(run.data.timeoutMs), () => timeout.abort());
  const exit = await runChild({
    argv: [run.data.program],
    env: { PATH: process.env["PATH"], ...JSON.parse(run.data.variables) },
    maxOutputBytes: 1_000_000,
    signal: AbortSignal.any([signal, timeout.signal]),
  });
  timer.cancel();

  const isMissing = exit.failure === "ENOENT" || exit.failure === "EACCES";
  await write({
    phase: "ended",
    completedAt: iso(clock.wallMs()),
    ...(exit.code !== undefined && { exitCode: String(exit.code) }),
    ...(exit.code !== 0 && {
      reason: failureReason(),
      message: exit.stderr || `ended by ${exit.failure ?? exit.code}`,
    }),
    // Nothing has begun: the run is safe to repeat.
    ...(isMissing && { startedAt: null }),
  });

  function failureReason(): string {
    if (isMissing) return "ConfigurationError";
    if (signal.aborted) return "Cancelled";
    return timeout.signal.aborted ? "Timeout" : "TaskRunFailed";
  }
}
