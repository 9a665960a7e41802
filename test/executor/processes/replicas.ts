import { informer } from "../../../src/kube/index.ts";
import { type Engine, type WorkflowExecution, workflowExecutions } from "../../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { replicaProblems } from "./replica-problems.ts";
import { type ExecutionOrder, Stage } from "./stage.ts";
import { until } from "./until.ts";

export interface ReplicasPlan {
  readonly replicas: number;
  readonly executions: number;
  readonly targets: number;
}

/** How many want something of one target at a time. */
const callersPerTarget = 3;

/** Several executors on one API server, and callers who never wait for one another. */
export async function playReplicas({ replicas, executions, targets }: ReplicasPlan) {
  await using stage = await Stage.open({ engines });
  for (let started = 0; started < replicas; started++) stage.executor();
  const following = new AbortController();
  const ends = endsOf(stage, following.signal);
  const startedAt = performance.now();

  let next = 0;
  async function call(target: string) {
    while (next < executions) {
      const number = next++;
      const { status } = await ends.of(await stage.create(`e-${number}`, orderOf(number, target)));
      // A rejected execution is created again when the target is free, together with all others.
      const holder = status?.phase === "Skipped" && "conflictingWorkflow" in status.skipDetails;
      if (holder) await ends.of({ metadata: status.skipDetails.conflictingWorkflow });
    }
  }
  const names = Array.from({ length: targets }, (_, index) => `node/worker-${index}`);
  await Promise.all(names.flatMap((target) => Array.from({ length: callersPerTarget }, () => call(target))));
  const seconds = (performance.now() - startedAt) / 1_000;
  const all = await until("everything is recorded and cleaned up", () => settled(stage), { withinMs: 60_000 }).catch(
    (error) => Promise.reject(new Error(`${error.message}\n${stage.logs().slice(-4_000)}`)),
  );
  following.abort();
  return { ...figuresOf(all), seconds, problems: await replicaProblems(stage, all) };
}

const engines: readonly Engine[] = ["tekton", "job", "local"];
const workflows = ["restart", "cleanup", "resize"];

/** Mixed, and the same every time. What fails is a workflow of its own: it blocks itself from then on. */
function orderOf(number: number, target: string): ExecutionOrder {
  const engine = engines[number % 3] as Engine;
  if (number % 11 === 0) return { engine, target, does: "fail", workflowId: "risky" };
  return { engine, target, does: "succeed", workflowId: workflows[Math.floor(number / 3) % 3] as string };
}

/** Resolves when an execution is over. */
function endsOf({ client }: Stage, signal: AbortSignal) {
  const waiting = new Map<string, ((execution: WorkflowExecution) => void)[]>();
  const follow = { client, type: workflowExecutions, clock: systemClock(), random: systemRandom(), signal };
  const executions = informer({ ...follow, problem: () => {} });
  executions.subscribe((_event, execution) => {
    const { name = "" } = execution.metadata;
    if (!hasEnded(execution)) return;
    for (const resolve of waiting.get(name) ?? []) resolve(execution);
    waiting.delete(name);
  });
  return {
    of: ({ metadata: { name = "", namespace = "" } }: Pick<WorkflowExecution, "metadata">) =>
      new Promise<WorkflowExecution>((resolve) => {
        const known = executions.get({ namespace, name });
        if (known && hasEnded(known)) resolve(known);
        else waiting.set(name, [...(waiting.get(name) ?? []), resolve]);
      }),
  };
}

/** Ended, recorded in the ledger, and its target is free. */
function hasEnded({ status }: WorkflowExecution): boolean {
  return status?.conditions?.some(({ type }) => type === "Recorded") ?? false;
}

/** All executions, once each is recorded in the ledger and only the runs of failed ones are left. */
async function settled(stage: Stage): Promise<readonly WorkflowExecution[] | undefined> {
  const { items } = await stage.client.list(workflowExecutions);
  if (!items.every(hasEnded)) return undefined;
  const failed = items.filter(({ status }) => status?.phase === "Failed").length;
  return (await stage.runs()).length <= failed ? items : undefined;
}

function figuresOf(executions: readonly WorkflowExecution[]) {
  const counts: Record<string, number> = {};
  for (const { status } of executions) {
    const end = status?.phase === "Skipped" ? `Skipped ${status.skipDetails.reason}` : (status?.phase ?? "none");
    counts[end] = (counts[end] ?? 0) + 1;
  }
  return { counts };
}
