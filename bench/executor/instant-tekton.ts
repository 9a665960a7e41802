import { tektonEngine } from "../../src/engines/index.ts";
import { informer, type KubeClient, type KubeObject } from "../../src/kube/index.ts";
import type { Clock, Random } from "../../src/time/index.ts";

/** Ends every run with success as soon as it was started, and notes when it saw that. */
export class InstantTekton {
  /** By the uid of the execution: when its run was seen to have started, and when its end was durable. */
  readonly startedAt = new Map<string, number>();
  readonly endedAt = new Map<string, number>();
  /** While false, runs go on. */
  ends = true;
  readonly #stop = new AbortController();
  readonly #client: KubeClient;
  readonly #clock: Clock;

  constructor(client: KubeClient, { clock, random }: { clock: Clock; random: Random }) {
    this.#client = client;
    this.#clock = clock;
    const { runs, stateOf } = tektonEngine(client);
    const follow = { client, clock, random, signal: this.#stop.signal, problem: () => {} };
    informer({ ...follow, type: runs }).subscribe((event, run) => {
      if (event !== "DELETED" && stateOf(run).kind === "running") void this.#run(run);
    });
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(run: KubeObject): Promise<void> {
    const uid = run.metadata.annotations?.["kubernaut.ai/execution-uid"] ?? "";
    if (this.startedAt.has(uid)) return;
    this.startedAt.set(uid, this.#clock.now());
    if (!this.ends) return;
    const at = new Date(this.#clock.wallMs()).toISOString();
    const condition = { type: "Succeeded", status: "True", reason: "Succeeded", message: "", lastTransitionTime: at };
    const status = { startTime: at, completionTime: at, conditions: [condition] };
    await this.#client.update(tektonEngine(this.#client).runs, { ...run, status } as KubeObject, {
      subresource: "status",
    });
    this.endedAt.set(uid, this.#clock.now());
  }
}
