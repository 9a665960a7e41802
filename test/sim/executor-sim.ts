import { type Engine, jobEngine, tektonEngine } from "../../src/engines/index.ts";
import { jobs } from "../../src/engines/job/job.ts";
import { pipelineRuns } from "../../src/engines/tekton/pipeline-run.ts";
import { startExecutor } from "../../src/executor/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { defaultPolicy } from "../../src/policy/index.ts";
import { builtInKinds, executionNamespace, installCrds } from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { ExecutorHistory } from "./executor-history.ts";
import { ExecutorServer } from "./executor-server.ts";
import { ExecutorStory } from "./executor-story.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { RunActors, runResources } from "./run-actors.ts";
import { Process, World } from "./world.ts";

/** What a replica acts with; a mutant spoils it. */
export interface Tools {
  readonly client: KubeClient;
  readonly engines: readonly Engine[];
  readonly ledger: Ledger;
}

/** `truth` is the server without the network between: only for what a mutant needs to know. */
export type MutateTools = (tools: Tools, truth: KubeClient) => Tools;

const rules = {
  cooldownMs: 8_000,
  backoffMs: 3_000,
  longestBackoffMs: 8_000,
  mostFailures: 4,
  clockErrorMs: 1_500,
};
const troubleMs = 60_000;
/** What all replicas may ask for in a second of peace: several times as much as was ever seen. */
const mostCallsPerSecond = 300;
/** Longer than any backoff, timeout or ttl that began before. */
const restMs = 400_000;

/** One run: replicas that drive executions, people and others who meddle, faults; then everything heals and must come to rest. */
export async function simulateExecutor(
  seed: number,
  faults = new Map<string, number>(),
  mutate: MutateTools = (tools) => tools,
): Promise<SimResult> {
  const world = new World(seed, faults);
  const server = new ExecutorServer(world);
  const history = new ExecutorHistory(world, rules, () => server.clock.wallMs());
  const truth = server.cluster.client();
  await installCrds(truth);
  server.cluster.witness("workflowexecutions.kubernaut.ai", (change) => history.execution(change));
  server.cluster.witness("remediationtargets.kubernaut.ai", (change) => history.record(change));
  for (const resource of runResources) server.cluster.witness(resource, (change) => history.run(change));
  new RunActors(world, server);
  const replicas = new Replicas(world, server, (tools) => mutate(tools, truth));
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

/** Nobody asks in circles, either. */
async function comeToRest(world: World, server: ExecutorServer, history: ExecutorHistory): Promise<void> {
  for (let end = troubleMs + 1_000; end <= troubleMs + restMs; end += 1_000) {
    const before = server.calls;
    await world.run(end, () => history.check());
    const calls = server.calls - before;
    if (calls > mostCallsPerSecond) throw new Violation("E12 no spin", `${calls} calls in the second before ${end} ms`);
  }
}

async function runsLeft(truth: KubeClient) {
  return [...(await truth.list(pipelineRuns)).items, ...(await truth.list(jobs)).items];
}

/** The executors, and what befalls them. */
class Replicas {
  readonly #world: World;
  readonly #server: ExecutorServer;
  readonly #mutate: (tools: Tools) => Tools;
  readonly #pace: number;
  #alive: Process[] = [];
  #hired = 0;
  #trouble = true;

  constructor(world: World, server: ExecutorServer, mutate: (tools: Tools) => Tools) {
    this.#world = world;
    this.#server = server;
    this.#mutate = mutate;
    this.#pace = world.chance.between(300, 6_000);
    for (let i = world.chance.whole(2, 4); i > 0; i--) this.#hire();
    this.#planTrouble();
    const rushed = world.chance.happens(0.5) ? world.chance.between(0, 0.05) : 0;
    for (const resource of ["workflowexecutions.kubernaut.ai", "remediationtargets.kubernaut.ai", ...runResources]) {
      server.cluster.witness(resource, () => this.#perhapsAtOnce(rushed));
    }
  }

  heal(): void {
    this.#trouble = false;
  }

  #hire() {
    const { chance } = this.#world;
    const process = new Process(this.#world, `executor-${this.#hired++}`, {
      offsetMs: chance.between(-3_600_000, 3_600_000),
      rate: 1 + chance.between(-0.002, 0.002),
    });
    this.#world.struck("clock skew and drift");
    this.#alive.push(process);
    const client = this.#server.clientOf(process);
    const engines = [tektonEngine(client), jobEngine(client)];
    startExecutor({
      ...this.#mutate({ client, engines, ledger: this.#server.ledgerOf(process) }),
      kinds: builtInKinds,
      namespace: executionNamespace,
      defaults: { engine: "tekton", serviceAccountName: undefined, timeoutMs: 15_000, cooldownMs: rules.cooldownMs },
      settings: {
        cooldownMs: rules.cooldownMs,
        backoff: { baseMs: rules.backoffMs, maxMs: rules.longestBackoffMs, maxExponent: 4, jitter: 0 },
        maxConsecutiveFailures: rules.mostFailures,
        ineffective: defaultPolicy.ineffective,
        observe: false,
        runTtlMs: 20_000,
      },
      clock: process.clock,
      random: chance,
      log: silentLogger,
      metrics: promMetrics(),
    });
  }

  #planTrouble() {
    this.#world.in(this.#pace * this.#world.chance.between(0.2, 2), () => {
      if (!this.#trouble) return;
      this.#strike();
      this.#planTrouble();
    });
  }

  /** The worst moment to stop is right after something was written, before its answer. */
  #perhapsAtOnce(odds: number) {
    if (!this.#trouble || !this.#world.chance.happens(odds)) return;
    this.#world.in(this.#world.chance.between(0, 10), () => {
      if (this.#trouble) this.#strike();
    });
  }

  #strike() {
    const { chance } = this.#world;
    const victim = chance.pick(this.#alive);
    const kind = chance.whole(0, 9);
    if (kind <= 3) {
      this.#world.struck("pause");
      victim.pause(chance.between(1, chance.happens(0.3) ? 30_000 : 3_000));
    } else if (kind <= 5) {
      this.#world.struck("crash");
      victim.kill();
      this.#alive = this.#alive.filter((process) => process !== victim);
      this.#world.in(chance.between(1, 3_000), () => this.#hire());
      if (this.#alive.length === 0) this.#hire();
    } else this.#server.falter();
  }
}
