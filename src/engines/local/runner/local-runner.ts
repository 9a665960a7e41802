import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Controller, informer, type KubeClient, keysFrom, objectKey, problemLogger } from "../../../kube/index.ts";
import type { Logger, Metrics } from "../../../telemetry/index.ts";
import type { Clock, Random } from "../../../time/index.ts";
import { pipelineRuns } from "../../tekton/pipeline-run.ts";
import { localRunsSelector } from "../local-marks.ts";
import { hasRealTekton } from "../real-tekton.ts";
import type { Processes } from "../steps/processes.ts";
import { systemProcesses } from "../steps/system-processes.ts";
import { type DataDirectory, openDataDirectory } from "./data-directory.ts";
import { type Files, systemFiles } from "./files.ts";
import { localMetrics } from "./local-metrics.ts";
import { LocalRuns } from "./local-runs.ts";

export interface LocalRunnerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Only one runner at a time can use it; others wait. */
  readonly dataDir: string;
  /** The directory with the folders of workflows. */
  readonly workflowsRoot: string;
  /** The namespace of runs. */
  readonly namespace: string;
  /** Environment variables of every step. */
  readonly env?: Readonly<Record<string, string>>;
  /** The time between SIGTERM and SIGKILL. Default 10 seconds. */
  readonly graceMs?: number;
  /** The maximum size of a step's kept output: half from its beginning, half from its end. Default 1 MiB. */
  readonly outputBytes?: number;
  /** The minimum interval between two updates of a run's status. Default half a second. */
  readonly progressMs?: number;
  /** The number of finished runs whose output is kept. Default 500. */
  readonly keptRuns?: number;
  readonly processes?: Processes;
  readonly files?: Files;
}

/** Executes local runs, as Tekton's controller executes its PipelineRuns. */
export interface LocalRunner {
  /** Resolves when the runner has the data directory and works; rejects if it is stopped before, or cannot work. */
  readonly active: Promise<void>;
  /** Stops the runner, not its steps: these continue, and the next runner adopts them. */
  stop(): Promise<void>;
}

/** Starts a runner. It stands by while another one has the directory. Throws if it can never work here. */
export async function startLocalRunner(options: LocalRunnerOptions): Promise<LocalRunner> {
  if (process.platform !== "linux") {
    throw new Error("The engine local needs Linux (flock, setsid and /proc). Use the engine tekton or job here.");
  }
  if (await hasRealTekton(options.client)) {
    throw new Error(
      'The engine local cannot be used where Tekton is installed: Tekton would run local runs, too. Set EXECUTION_ENGINES (execution.engines) to "tekton, job".',
    );
  }
  const abandon = new AbortController();
  const opened = openDataDirectory({
    path: options.dataDir,
    clock: options.clock,
    random: options.random,
    signal: abandon.signal,
    waiting: () => options.log.info("local runner waits for its data directory", { dataDir: options.dataDir }),
  });
  const work = opened.then((directory) => begin(options, directory, abandon.signal));
  const active = work.then(async ({ controller }) => {
    await controller.ready;
    options.log.info("local runner active", { dataDir: options.dataDir });
  });
  active.catch(() => {});

  return {
    active,
    async stop() {
      abandon.abort(new Error("the runner was stopped"));
      const begun = await work.catch(() => undefined);
      await begun?.controller.stop({ deadlineMs: 5_000 });
      // Another process may write here only after this.
      await begun?.runs.idle();
      await begun?.directory.release();
    },
  };
}

/** Runs an empty step, so that a machine that cannot run steps fails at startup. */
async function checkSteps(processes: Processes, directory: DataDirectory) {
  const folder = join(directory.path, "try-out");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const launch = { folder, argv: ["true"], env: { PATH: "/usr/bin:/bin" }, workingDir: folder, outputBytes: 1 };
  const problem = await processes.start(launch);
  const exitCode = await readFile(join(folder, "exit"), "utf8").catch(() => "");
  await rm(folder, { recursive: true, force: true });
  if (exitCode.trim() === "0") return;
  const needs = "It needs flock 2.34 and setsid of util-linux, and sync, head, tail and tee of coreutils.";
  throw new Error(`The engine local cannot run steps here: ${problem ?? "the step failed"}. ${needs}`);
}

async function begin(options: LocalRunnerOptions, directory: DataDirectory, abandon: AbortSignal) {
  const { processes = systemProcesses() } = options;
  await checkSteps(processes, directory).catch(async (error) => {
    await directory.release();
    throw error;
  });
  const { client, clock, random, log, namespace, workflowsRoot, outputBytes = 1_048_576 } = options;
  const problem = problemLogger("local runner problem", { log, clock });
  let controller: Controller | undefined;
  const runs: LocalRuns = new LocalRuns({
    client,
    clock,
    log,
    metrics: localMetrics(options.metrics, () => runs.stepsAlive),
    directory,
    workflowsRoot,
    abandon,
    processes,
    files: options.files ?? systemFiles(),
    env: options.env ?? {},
    graceMs: options.graceMs ?? 10_000,
    outputBytes: Math.floor(outputBytes / 2),
    progressMs: options.progressMs ?? 500,
    keptRuns: options.keptRuns ?? 500,
    wake: (key) => controller?.add(key),
  });
  const unfinished = await runs.recover();
  const query = { namespace, labelSelector: localRunsSelector };
  const objects = informer({ client, type: pipelineRuns, query, clock, random, signal: abandon, problem });
  controller = new Controller({
    name: "local-runner",
    sources: [keysFrom(objects, (run) => [objectKey(run)])],
    reconcile: (key) => runs.reconcile(key),
    clock,
    random,
    problem,
    concurrency: 16,
  });
  // The informer does not report runs whose objects were deleted meanwhile.
  for (const key of unfinished) controller.add(key);
  return { controller, runs, directory };
}
