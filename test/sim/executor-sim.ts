import { type Engine, jobEngine, tektonEngine } from "../../src/engines/index.ts";
import { jobs } from "../../src/engines/job/job.ts";
import { pipelineRuns } from "../../src/engines/tekton/pipeline-run.ts";
import { startExecutor } from "../../src/executor/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { defaultPolicy, type PolicySettings } from "../../src/policy/index.ts";
import { builtInKinds, executionNamespace, fixedKinds, installCrds } from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { ExecutorHistory } from "./executor-history.ts";
import { ExecutorStory } from "./executor-story.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { Replicas } from "./replicas.ts";
import { RunActors, runResources } from "./run-actors.ts";
import { SimServer } from "./sim-server.ts";
import { type Process, World } from "./world.ts";

const retention = { retentionMs: 168 * 3_600_000, targetRetentionMs: 720 * 3_600_000 };

/** What a replica acts with; a mutant spoils it. */
export interface Tools {
  readonly client: KubeClient;
  readonly engines: readonly Engine[];
  readonly ledger: Ledger;
}

/** `truth` is the server without the network between: only for what a mutant needs to know. */
export type MutateTools = (tools: Tools, truth: KubeClient) => Tools;

export const rules = {
  cooldownMs: 8_000,
  backoffMs: 3_000,
  longestBackoffMs: 8_000,
  maxFailures: 4,
  clockErrorMs: 1_500,
};
/** The same, as executors and orchestrators are configured. */
export const policy: PolicySettings = {
  cooldownMs: rules.cooldownMs,
  backoff: { baseMs: rules.backoffMs, maxMs: rules.longestBackoffMs, maxExponent: 4, jitter: 0 },
  maxConsecutiveFailures: rules.maxFailures,
  ineffective: defaultPolicy.ineffective,
  observe: false,
  observeTargets: defaultPolicy.observeTargets,
};
export const executorResources = [
  "workflowexecutions.kubernaut.ai",
  "remediationtargets.kubernaut.ai",
  ...runResources,
] as const;
const troubleMs = 60_000;
/** What all replicas may ask for in a second of peace: several times as much as was ever seen. */
const maxCallsPerSecond = 300;
/** Longer than any backoff, timeout or ttl that began before. */
const restMs = 400_000;

/** One run: replicas that drive executions, people and others who meddle, faults; then everything heals and must come to rest. */
export async function simulateExecutor(
  seed: number,
  faults = new Map<string, number>(),
  mutate: MutateTools = (tools) => tools,
): Promise<SimResult> {
  const world = new World(seed, faults);
  const server = new SimServer(world);
  const history = new ExecutorHistory(world, rules, () => server.clock.wallMs());
  const truth = server.cluster.client();
  await installCrds(truth);
  server.cluster.witness("workflowexecutions.kubernaut.ai", (change) => history.execution(change));
  server.cluster.witness("remediationtargets.kubernaut.ai", (change) => history.record(change));
  server.cluster.witness("remediationapprovalrequests.kubernaut.ai", (change) => history.approval(change));
  for (const resource of runResources) server.cluster.witness(resource, (change) => history.run(change));
  const clockErrorMs = engineClockErrorMs(seed);
  if (clockErrorMs !== 0) world.struck("engine clock wrong");
  new RunActors(world, server, { clockErrorMs });
  const replicas = new Replicas(world, server, {
    name: "executor",
    count: world.chance.whole(2, 4),
    start: executorOn(server, (tools) => mutate(tools, truth)),
    hurry: executorResources,
  });
  const story = new ExecutorStory({ world, server, history, troubleMs });
  try {
    await world.run(troubleMs, () => history.check());
    replicas.heal();
    server.heal();
    story.end();
    await comeToRest(world, server, history);
    history.atRest(await runsLeft(truth), server.ledger.events());
    return { steps: world.steps, grants: history.admissions, lost: 0, violation: undefined };
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { steps: world.steps, grants: history.admissions, lost: 0, violation: error.message };
  }
}

/** In every third run the clock of the engines is wrong, by up to two minutes. */
function engineClockErrorMs(seed: number): number {
  return seed % 3 === 0 ? ((seed % 5) - 2) * 60_000 : 0;
}

/** No replica requests in an endless loop, either. */
async function comeToRest(world: World, server: SimServer, history: ExecutorHistory): Promise<void> {
  for (let end = troubleMs + 1_000; end <= troubleMs + restMs; end += 1_000) {
    const before = server.calls;
    await world.run(end, () => history.check());
    const calls = server.calls - before;
    if (calls > maxCallsPerSecond) throw new Violation("E12 no spin", `${calls} calls in the second before ${end} ms`);
  }
}

async function runsLeft(truth: KubeClient) {
  return [...(await truth.list(pipelineRuns)).items, ...(await truth.list(jobs)).items];
}

/** What starts an executor in a process. */
export function executorOn(server: SimServer, mutate: (tools: Tools) => Tools = (tools) => tools) {
  return (process: Process): undefined => {
    const client = server.clientOf(process);
    const engines = [tektonEngine(client), jobEngine(client)];
    startExecutor({
      ...mutate({ client, engines, ledger: server.ledgerOf(process) }),
      kinds: fixedKinds(builtInKinds),
      namespace: executionNamespace,
      catalogNamespace: "default",
      defaults: {
        ...{ engine: "tekton", serviceAccountName: undefined, timeoutMs: 15_000, cooldownMs: rules.cooldownMs },
        allowOutsideCatalog: false,
      },
      settings: { ...policy, runTtlMs: 20_000, ...retention, incidentsNamespace: "default" },
      clock: process.clock,
      random: server.world.chance,
      log: silentLogger,
      metrics: promMetrics(),
    });
  };
}
