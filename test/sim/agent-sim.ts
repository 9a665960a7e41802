import { type AgentOptions, startAgent } from "../../src/agent/index.ts";
import { kubernetesLocks } from "../../src/coordination/index.ts";
import { codingTasks, installCrds } from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { checkAgent, checkPaused } from "./agent-history.ts";
import { AgentRemote, statuses } from "./agent-remote.ts";
import { AgentStory, namespace } from "./agent-story.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { Replicas } from "./replicas.ts";
import { SimServer } from "./sim-server.ts";
import { type Process, World } from "./world.ts";

export type MutateAgent = (options: AgentOptions) => AgentOptions;

const settings: AgentOptions["settings"] = {
  ...{ namespace, concurrency: 4, maxAttempts: 6, patienceMs: 600_000, keepFinishedMs: 86_400_000, minAccessLevel: 30 },
  backoff: { baseMs: 500, maxMs: 5_000, jitter: 0.2 },
  author: { name: "Interlock", email: "interlock@example.com" },
  draftMergeRequests: false,
  forks: "onRequest",
  statusesOf: () => statuses,
};
const troubleMs = 60_000;
/** Longer than a frozen replica takes to wake up and observe a pause. */
const settleMs = 90_000;
/** Longer than locks of the dead last, all tries together, and a long line. */
const restMs = 900_000;

/** One run: agents on one API server, GitLab and Jira, people who ask for things, faults; at last everything has to end. */
export async function simulateAgent(
  seed: number,
  faults = new Map<string, number>(),
  mutate: MutateAgent = (options) => options,
): Promise<SimResult> {
  const world = new World(seed, faults);
  const server = new SimServer(world);
  const truth = server.cluster.client();
  await installCrds(truth);
  const remote = new AgentRemote(world);
  const story = new AgentStory(world, server, remote);
  const crew = new Replicas(world, server, {
    ...{ name: "agent", count: world.chance.whole(2, 4), hurry: ["codingtasks.kubernaut.ai"] },
    start: agentOn(server, remote, mutate),
    longestPauseMs: 60_000,
  });
  const tasks = async () => (await truth.list(codingTasks, { namespace })).items;
  const result = async (violation?: string) => {
    return { steps: world.steps, grants: (await tasks()).length, lost: 0, violation };
  };
  try {
    await world.run(troubleMs, () => {});
    crew.heal();
    server.heal();
    remote.heal();
    story.end();
    await story.resume();
    for (const iid of [1, 2]) await story.tellOfHead(iid);
    await story.pause({ scope: "All", reason: "upgrade", requestedBy: "kim" });
    await world.run(troubleMs + settleMs, () => {});
    const before = new Set((await tasks()).map(({ metadata }) => metadata.uid));
    await story.askForMore();
    await world.run(troubleMs + 2 * settleMs, () => {});
    checkPaused((await tasks()).filter(({ metadata }) => !before.has(metadata.uid)));
    await story.resume();
    for (let end = troubleMs + 2 * settleMs; end <= troubleMs + restMs; end += 10_000) {
      await world.run(end, () => {});
      if ((await tasks()).every(({ status }) => status && "completionTime" in status)) break;
    }
    checkAgent(await tasks(), remote, server.ledger.events());
    return await result();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return result(error.message);
  }
}

function agentOn(server: SimServer, remote: AgentRemote, mutate: MutateAgent) {
  return (process: Process): undefined => {
    const { clock } = process;
    const random = server.world.chance;
    const client = server.clientOf(process);
    const locks = kubernetesLocks({ client, clock, random, namespace, prefix: "agent-lock-", who: process.name });
    startAgent(
      mutate({
        ...{ client, clock, random, settings, locks, log: silentLogger, metrics: promMetrics() },
        ledger: server.ledgerOf(process),
        gitlab: remote.gitlabOf(process),
        jira: remote.jiraOf(process),
        workshop: remote.workshopOf(process),
        coder: remote.coderOf(process),
        redact: async (text) => text,
      }),
    );
  };
}
