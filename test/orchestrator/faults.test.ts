import { describe, expect, it } from "vitest";
import { memoryLocks } from "../../src/coordination/index.ts";
import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import {
  incidentName,
  isClosedIncident,
  type RemediationRequest,
  remediationRequests,
  type WorkflowExecution,
} from "../../src/resources/index.ts";
import { type DyingClient, dyingClient } from "../doubles/dying-client.ts";
import { Chance } from "../sim/chance.ts";
import { diskRule, minute, OrchestratorWorld } from "./orchestrator-world.ts";

const seeds = Array.from({ length: 4 }, (_, i) => i + 1);

describe("orchestrators that share no lock, crash at random, and use a failing API server", () => {
  it.each(seeds)("keep all guarantees (seed %i)", async (seed) => {
    const story = await Story.begin(seed);
    for (let step = 0; step < 30; step++) {
      await story.next();
      await story.check();
    }
    await story.end();
  });
});

const nodes = ["worker-1", "worker-2"] as const;
const signals = ["DiskFull", "DiskSlow", "DiskInodes", "MemoryFull"] as const;

/** Problems come and go, runs end one way or the other, people pause and acknowledge, processes die. */
class Story {
  readonly #world: OrchestratorWorld;
  readonly #chance: Chance;
  /** The number of the newest incident of each fingerprint. */
  readonly #newest = new Map<string, number>();
  readonly #replicas: DyingClient[] = [];
  #isPaused = false;
  #isFaulty = true;

  private constructor(world: OrchestratorWorld, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
  }

  static async begin(seed: number): Promise<Story> {
    const chance = new Chance(seed);
    const world = await OrchestratorWorld.open({ random: chance });
    const story = new Story(world, chance);
    await world.workflow({ workflowId: "defrag", cooldown: "1m" });
    world.rules.set({ ...diskRule, name: "slow", match: { signalName: "DiskSlow" }, workflow: "defrag" }, diskRule);
    await world.executor();
    for (let i = 0; i < 3; i++) await story.#replica();
    return story;
  }

  async next(): Promise<void> {
    const chance = this.#chance;
    const acts = [
      this.#report,
      this.#report,
      this.#report,
      this.#resolve,
      this.#endRun,
      this.#endRun,
      this.#pause,
      this.#die,
    ];
    await chance.pick(acts).call(this);
    await this.#world.passTime(chance.whole(0, 120_000));
  }

  /** One run per target at a time, nothing of the gateway's lost, and every wait explained in the ledger. */
  async check(): Promise<void> {
    const executions = await this.#world.executions();
    for (const node of nodes) {
      const running = executions.filter(({ spec, status }) => isOn(node, spec) && status?.phase === "Running");
      expect(running.length).toBeLessThanOrEqual(1);
    }
    const known = new Set(this.#world.ledger.events().map(({ id }) => id));
    for (const { status, metadata } of await this.#incidents()) {
      expect(status?.deduplication, metadata.name).toBeDefined();
      if (status?.phase === "Blocked") expect(known).toContain(status.block.decision);
    }
  }

  /** Without further faults everything comes to an end, and every change is recorded once. */
  async end(): Promise<void> {
    const world = this.#world;
    this.#isFaulty = false;
    await world.orchestrator();
    if (this.#isPaused) await world.endPause("freeze");
    // Longer than anything is waited for: an unacknowledged failure becomes stale after a day.
    for (let i = 0; i < 40; i++) {
      for (const node of nodes) await this.#finishRun(`node/${node}`, "True");
      await world.passTime(45 * minute);
    }

    expect(await this.#open()).toEqual([]);
    const executions = await world.executions();
    expect(executions.filter(({ status }) => status?.phase === "Running")).toEqual([]);
    await this.#checkNotices(executions);
    await this.#checkLedger();
    await world.close();
  }

  async #checkNotices(executions: readonly WorkflowExecution[]): Promise<void> {
    const notices = await this.#world.notices();
    for (const { metadata } of executions) {
      const ofExecution = notices.filter(({ spec }) => spec.context?.execution === metadata.name);
      expect(ofExecution.filter(({ spec }) => !spec.context?.entries)).toHaveLength(1);
      expect(ofExecution.filter(({ spec }) => spec.context?.entries).length).toBeLessThanOrEqual(1);
    }
  }

  /** Each incident that was closed was closed once, in agreement with its status. */
  async #checkLedger(): Promise<void> {
    const ends = new Map(
      this.#world.ledger.events().flatMap(({ id, type, facts }) => (type === "incident.closed" ? [[id, facts]] : [])),
    );
    for (const { metadata, status } of await this.#incidents()) {
      expect(ends.get(`${metadata.uid}/incident.closed`)).toMatchObject({
        phase: status?.phase,
        outcome: (status as { outcome?: string }).outcome,
      });
    }
  }

  async #replica(): Promise<void> {
    const death = { write: this.#chance.whole(1, 60), when: this.#chance.pick(["before", "after"] as const) };
    const client = dyingClient(this.#faulty(this.#world.client), death);
    this.#replicas.push(client);
    const locks = memoryLocks({ clock: this.#world.clock, random: this.#chance, who: "alone" });
    await this.#world.orchestrator({ client, locks });
  }

  /** Restarts the orchestrators that died. */
  async #die(): Promise<void> {
    const dead = this.#replicas.filter(({ isDead }) => isDead);
    this.#replicas.splice(0, this.#replicas.length, ...this.#replicas.filter(({ isDead }) => !isDead));
    for (const _ of dead) await this.#replica();
    this.#world.cluster.dropWatches();
  }

  /** The gateway opens an incident, or counts on the one that is open. */
  async #report(): Promise<void> {
    const world = this.#world;
    const [node, signalName] = [this.#chance.pick(nodes), this.#chance.pick(signals)];
    const fingerprint = `${signalName}-${node}`;
    const n = this.#newest.get(fingerprint) ?? 0;
    const name = n > 0 ? incidentName(fingerprint, n) : "";
    if (n > 0 && !isClosedIncident(await world.seen(name))) return world.report(name);
    this.#newest.set(fingerprint, n + 1);
    await world.report(await world.incident(fingerprint, { signalName, signalLabels: { node } }, n + 1));
  }

  async #resolve(): Promise<void> {
    const open = await this.#open();
    if (open.length > 0) await this.#world.resolve(this.#chance.pick(open).metadata.name ?? "");
  }

  async #endRun(): Promise<void> {
    await this.#finishRun(`node/${this.#chance.pick(nodes)}`, this.#chance.pick(["True", "True", "False"] as const));
  }

  async #finishRun(target: string, how: "True" | "False"): Promise<void> {
    const run = (await this.#world.run(target)) as { status?: { completionTime?: string } } | undefined;
    if (run && !run.status?.completionTime) await this.#world.reportRun(how, target);
  }

  async #pause(): Promise<void> {
    if (this.#isPaused) await this.#world.endPause("freeze");
    else await this.#world.pause("freeze");
    this.#isPaused = !this.#isPaused;
  }

  /** Every tenth call fails, half of them after it was done. */
  #faulty(client: KubeClient): KubeClient {
    const faulty = async <T>(act: () => Promise<T>): Promise<T> => {
      const fails = this.#isFaulty && this.#chance.happens(0.1);
      if (fails && this.#chance.happens(0.5)) throw new KubeError("unavailable", "no answer");
      const answer = await act();
      if (fails) throw new KubeError("unavailable", "the answer was lost");
      return answer;
    };
    return {
      ...client,
      get: (...call) => faulty(() => client.get(...call)),
      list: (...call) => faulty(() => client.list(...call)),
      create: (...call) => faulty(() => client.create(...call)),
      update: (...call) => faulty(() => client.update(...call)),
      patch: (...call) => faulty(() => client.patch(...call)),
      delete: (...call) => faulty(() => client.delete(...call)),
    };
  }

  async #incidents(): Promise<readonly RemediationRequest[]> {
    return (await this.#world.client.list(remediationRequests)).items;
  }

  async #open(): Promise<readonly RemediationRequest[]> {
    return (await this.#incidents()).filter((incident) => !isClosedIncident(incident));
  }
}

function isOn(node: string, { targetResource }: WorkflowExecution["spec"]): boolean {
  return targetResource === `node/${node}`;
}
