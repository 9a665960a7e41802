import { memoryLocks } from "../../src/coordination/index.ts";
import { jobs } from "../../src/engines/job/job.ts";
import { pipelineRuns } from "../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { type OrchestratorOptions, startOrchestrator } from "../../src/orchestrator/index.ts";
import { builtInKinds, executionNamespace, fixedKinds, installCrds } from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { ExecutorHistory } from "./executor-history.ts";
import { executorOn, executorResources, policy, rules } from "./executor-sim.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { OrchestratorHistory } from "./orchestrator-history.ts";
import { OrchestratorStory, simAnalyzer } from "./orchestrator-story.ts";
import { Replicas } from "./replicas.ts";
import { RunActors, runResources } from "./run-actors.ts";
import { SimServer } from "./sim-server.ts";
import { type Process, World } from "./world.ts";

/** What an orchestrator acts with; a mutant spoils it. `truth` is the server without the network between. */
export type MutateOrchestrator = (options: OrchestratorOptions, truth: KubeClient) => OrchestratorOptions;

export interface OrchestratorSimOptions {
  readonly replicas?: number;
  readonly troubleMs?: number;
  readonly mutate?: MutateOrchestrator;
}

const settings: OrchestratorOptions["settings"] = {
  ...policy,
  staleAfterMs: 90_000,
  staleAfterBySource: new Map(),
  executionTimeoutMs: 60_000,
  approvalExpiresAfterMs: 10_000,
  verification: { graceMs: 1_000, windowMs: 8_000 },
  notifyClosed: false,
  retentionMs: 3_600_000,
  engine: "tekton",
};
const peaceMs = 60_000;
/** Longer than anything is waited for that began before. */
const restMs = 240_000;

/** One run: orchestrators and executors, problems that come and go, faults; then peace, and at last everything has to end. */
export async function simulateOrchestrator(
  seed: number,
  faults = new Map<string, number>(),
  { replicas, troubleMs = 40_000, mutate = (options) => options }: OrchestratorSimOptions = {},
): Promise<SimResult> {
  const world = new World(seed, faults);
  const server = new SimServer(world);
  const truth = server.cluster.client();
  await installCrds(truth);
  const serverNowMs = () => server.clock.wallMs();
  const history = new OrchestratorHistory(world, serverNowMs, () => server.ledger.events());
  const executions = new ExecutorHistory(world, rules, serverNowMs);
  witness(server, history, executions);
  new RunActors(world, server);
  const story = new OrchestratorStory(world, server);
  await story.addWorkflows();
  const { chance } = world;
  const crews = [
    new Replicas(world, server, {
      ...{ name: "executor", count: chance.whole(1, 3), start: executorOn(server), hurry: executorResources },
    }),
    new Replicas(world, server, {
      ...{ name: "orchestrator", count: replicas ?? chance.whole(2, 4) },
      start: orchestratorOn(server, (options) => mutate(options, truth)),
      hurry: ["remediationrequests.kubernaut.ai", "workflowexecutions.kubernaut.ai"],
    }),
  ];
  const check = () => {
    history.check();
    executions.check();
  };
  const result = (violation?: string) => ({ steps: world.steps, grants: history.decided, lost: 0, violation });
  try {
    await world.run(troubleMs, check);
    for (const crew of crews) crew.heal();
    server.heal();
    story.calmDown();
    history.peace();
    for (let end = troubleMs + 1_000; end <= troubleMs + peaceMs + restMs; end += 1_000) {
      if (end > troubleMs + peaceMs) story.fallSilent();
      await world.run(end, check);
      history.checkBlocks();
    }
    history.atRest();
    const runs = [...(await truth.list(pipelineRuns)).items, ...(await truth.list(jobs)).items];
    executions.atRest(runs, server.ledger.events());
    return result();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return result(error.message);
  }
}

function witness({ cluster }: SimServer, history: OrchestratorHistory, executions: ExecutorHistory) {
  cluster.witness("remediationrequests.kubernaut.ai", (change) => history.incident(change));
  cluster.witness("workflowexecutions.kubernaut.ai", (change) => {
    history.execution(change);
    executions.execution(change);
  });
  cluster.witness("notificationrequests.kubernaut.ai", (change) => history.notice(change));
  cluster.witness("remediationtargets.kubernaut.ai", (change) => {
    history.record(change);
    executions.record(change);
  });
  for (const resource of runResources) cluster.witness(resource, (change) => executions.run(change));
}

function orchestratorOn(server: SimServer, mutate: (options: OrchestratorOptions) => OrchestratorOptions) {
  return (process: Process): undefined => {
    const { clock } = process;
    const random = server.world.chance;
    const options: OrchestratorOptions = {
      ...{
        clock,
        random,
        settings,
        analyzer: simAnalyzer,
        kinds: fixedKinds(builtInKinds),
        namespace: executionNamespace,
      },
      catalogNamespace: "default",
      client: server.clientOf(process),
      // Each has its own: locks save work, and nothing may depend on them.
      locks: memoryLocks({ clock, random, who: process.name }),
      ...{ ledger: server.ledgerOf(process), log: silentLogger, metrics: promMetrics() },
    };
    startOrchestrator(mutate(options));
  };
}
