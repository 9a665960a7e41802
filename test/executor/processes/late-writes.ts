import { jobEngine, tektonEngine } from "../../../src/engines/index.ts";
import type { KubeClient, KubeObject } from "../../../src/kube/index.ts";
import type { WorkflowExecution } from "../../../src/resources/index.ts";
import type { ExecutorProcess } from "./executor-process.ts";
import type { Stage } from "./stage.ts";
import { until } from "./until.ts";

/** The engines whose runs several processes may write. */
export type SharedEngine = "tekton" | "job";

/** Only to read runs: they call no service. */
const engines = { tekton: tektonEngine({} as KubeClient), job: jobEngine({} as KubeClient) };

/**
 * An executor is paused before it creates a run; another does all the work meanwhile; then the create arrives, and the executor that
 * sent it dies. Returns what went wrong: the run that came late must never act.
 */
export async function createLate(stage: Stage, engine: SharedEngine): Promise<readonly string[]> {
  const create = `create ${engines[engine].runs.plural} 1`;
  const late = stage.executor({ kind: "is paused", at: create }, { kind: "dies", at: `${create}+` });
  const execution = await stage.create(`late-create-${engine}`, orderFor(engine, "created-late"));
  await until("it is about to create the run", () => late.isPaused);
  await completeElsewhere(stage, execution);

  late.resume();
  await late.ended;
  const stages = (await stage.runsOf(uidOf(execution))).map((run) => engines[engine].stateOf(run).kind);
  await removeElsewhere(stage, execution);
  return [
    ...differs("the run that came late is", stages.join(), "suspended"),
    ...differs("the step reported", reportedSteps(stage, execution), "start end"),
  ];
}

/**
 * An executor is paused before it starts a run; meanwhile that run is deleted, and another one takes its name; then the start
 * arrives. Returns what went wrong: it must not start another run than the one it was meant for.
 */
export async function startLate(stage: Stage, engine: SharedEngine): Promise<readonly string[]> {
  const late = stage.executor({ kind: "is paused", at: `patch ${engines[engine].runs.plural} 1` });
  const execution = await stage.create(`late-start-${engine}`, orderFor(engine, "started-late"));
  await until("it is about to start the run", () => late.isPaused);
  const [run] = await stage.runsOf(uidOf(execution));
  if (!run) throw new Error("there is no run to be started");
  const stranger = strangerLike(run);
  await deleteElsewhere(stage, execution);
  await stage.client.create(engines[engine].runs, stranger);

  late.resume();
  await goesOn(stage, late, engine);
  const { name = "", namespace = "" } = stranger.metadata;
  const found = await stage.client.get(engines[engine].runs, { name, namespace });
  return [
    ...differs("the other run is", found && engines[engine].stateOf(found).kind, "suspended"),
    ...differs("the step reported", reportedSteps(stage, execution), ""),
  ];
}

/** The same work under the same name, but none of an execution's. */
function strangerLike({ apiVersion, kind, metadata, ...run }: KubeObject): KubeObject {
  const { name = "", namespace = "" } = metadata;
  const { spec } = run as { spec?: object };
  return { apiVersion, kind, metadata: { name, namespace }, spec } as KubeObject;
}

async function completeElsewhere(stage: Stage, { metadata: { name = "" } }: WorkflowExecution): Promise<void> {
  const other = stage.executor();
  await until("it has ended", async () => {
    const { status } = (await stage.execution(name)) ?? {};
    return status?.conditions?.some(({ type }) => type === "TargetFreed");
  });
  await until("its run is gone", async () => (await stage.runs()).length === 0);
  await other.stop();
}

async function removeElsewhere(stage: Stage, execution: WorkflowExecution): Promise<void> {
  const other = stage.executor();
  await until("the run is gone", async () => (await stage.runsOf(uidOf(execution))).length === 0);
  await other.stop();
}

async function deleteElsewhere(stage: Stage, { metadata: { name = "" } }: WorkflowExecution): Promise<void> {
  const other = stage.executor();
  await stage.delete(name);
  await until("it is gone", async () => (await stage.execution(name)) === undefined);
  await other.stop();
}

/** What it does now comes after what it was about to do. */
async function goesOn(stage: Stage, executor: ExecutorProcess, engine: SharedEngine): Promise<void> {
  const next = await stage.create(`next-${engine}`, orderFor(engine, "next"));
  await until("it does something else", () => reportedSteps(stage, next) === "start end");
  await executor.stop();
}

function orderFor(engine: SharedEngine, node: string) {
  return { engine, target: `node/${node}-${engine}`, does: "succeed" } as const;
}

function reportedSteps(stage: Stage, execution: WorkflowExecution): string {
  return stage.witness
    .of(uidOf(execution))
    .map(({ reported }) => reported)
    .join(" ");
}

function uidOf({ metadata }: WorkflowExecution): string {
  return metadata.uid ?? "";
}

function differs(what: string, found: unknown, wanted: unknown): readonly string[] {
  return found === wanted ? [] : [`${what} ${found}, not ${wanted}`];
}
