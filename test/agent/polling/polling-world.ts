import { type GitLabPollerOptions, pollAll, pollCounter, pollGitLab } from "../../../src/agent/index.ts";
import { memoryLocks, memoryWatermarks } from "../../../src/coordination/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { memoryLedger } from "../../../src/ledger/index.ts";
import { type CodingTask, codingTasks, installCrds } from "../../../src/resources/index.ts";
import { taskIntake } from "../../../src/tasks/index.ts";
import { promMetrics } from "../../../src/telemetry/index.ts";
import { systemRandom } from "../../../src/time/index.ts";
import { ManualClock } from "../../doubles/manual-clock.ts";
import { recordingLogger } from "../../doubles/recording-logger.ts";
import { testCluster } from "../../doubles/test-cluster.ts";

const namespace = "kubernaut-system";

/** Pollers with one API server, one store of watermarks and one set of locks, and a manual clock. */
export class PollingWorld {
  readonly clock = new ManualClock();
  readonly random = systemRandom();
  readonly client: KubeClient;
  readonly ledger = memoryLedger();
  readonly log = recordingLogger();
  readonly locks = memoryLocks({ clock: this.clock, random: this.random, who: "test" });
  readonly watermarks = memoryWatermarks();
  readonly #running: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];

  private constructor() {
    const { clock, random } = this;
    this.client = testCluster({ clock, random, namespaces: [namespace] }).client();
  }

  static async open(): Promise<PollingWorld> {
    const world = new PollingWorld();
    await installCrds(world.client);
    return world;
  }

  /** Starts a poller. `fence`: it acts as the leader, even if another poller does. */
  start(options: Pick<GitLabPollerOptions, "gitlab"> & Partial<GitLabPollerOptions>, fence?: bigint) {
    const { client, ledger, log, clock, random, locks, watermarks } = this;
    const stop = new AbortController();
    const whole: GitLabPollerOptions = {
      projects: ["1"],
      rules: { username: "bot", reviewDrafts: false, skipLabels: [] },
      intervalMs: 30_000,
      from: "now",
      overlapMs: 60_000,
      intake: taskIntake({ client, ledger, namespace, log }),
      locks,
      watermarks,
      observe: (watermark) => watermark,
      countPoll: pollCounter(promMetrics()),
      clock,
      random,
      log,
      signal: stop.signal,
      ...options,
    };
    const ended = fence === undefined ? pollGitLab(whole) : pollAll(whole, fence, stop.signal);
    const poller = { stop, ended };
    this.#running.push(poller);
    return poller;
  }

  /** Ends the poller, as a process that stops does. */
  async stop({ stop, ended }: { readonly stop: AbortController; readonly ended: Promise<void> }) {
    stop.abort();
    await this.clock.advance(1_000);
    await ended;
  }

  async close() {
    for (const poller of this.#running) await this.stop(poller);
    await this.locks.close();
  }

  async tasks(): Promise<readonly CodingTask[]> {
    return (await this.client.list(codingTasks)).items;
  }

  /** The subjects of the tasks, in the order of their keys. */
  async keys(): Promise<readonly string[]> {
    return (await this.tasks()).map(({ spec }) => spec.claimKey.split(":").toSpliced(1, 1).join(":")).sort();
  }
}
