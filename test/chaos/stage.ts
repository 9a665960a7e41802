import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { type Network, startTcpProxy } from "../services/tcp-proxy.ts";
import type { Violation } from "./check.ts";
import { Dice } from "./dice.ts";
import { type Fault, type FaultEvent, Journal, monotonicMs } from "./history.ts";
import type { Backend } from "./locks-under-test.ts";
import { type Persistence, type Server, startServer } from "./server.ts";
import { sleepMs } from "./sleep-ms.ts";
import type { Programs } from "./theatre.ts";
import { startWitness, type Witness } from "./witness.ts";
import type { Plan } from "./worker.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Who plays, and on what. */
export interface Cast {
  readonly backend: Backend;
  readonly persistence: Persistence;
  readonly workers: number;
  readonly plan: Omit<Plan, "worker" | "journal" | "witness" | "seed">;
}

/** What the dice show, where the processes write their histories, and what they run. */
export interface Setting {
  readonly seed: number;
  readonly dir: string;
  readonly programs: Programs;
}

/** A server, workers that want its locks, a network between them, and ways to break each. */
export class Stage {
  readonly cast: Cast;
  readonly dice: Dice;
  readonly server: Server;
  readonly witness: Witness;
  readonly journal: Journal;
  /** Where every process writes its history. */
  readonly dir: string;
  readonly histories: string[] = [];
  readonly violations: Violation[] = [];
  readonly #programs: Programs;
  /** A worker that ends without being in here has crashed, unless it was asked to end. */
  readonly #killed = new Set<WorkerProcess>();
  #workers: WorkerProcess[] = [];
  #spawned = 0;

  private constructor(cast: Cast, setting: Setting, parts: { server: Server; witness: Witness; journal: Journal }) {
    this.cast = cast;
    this.dice = new Dice(setting.seed);
    this.dir = setting.dir;
    this.#programs = setting.programs;
    this.server = parts.server;
    this.witness = parts.witness;
    this.journal = parts.journal;
    this.histories.push(join(setting.dir, "driver.jsonl"));
  }

  static async open(cast: Cast, setting: Setting): Promise<Stage> {
    mkdirSync(setting.dir, { recursive: true });
    const journal = new Journal(join(setting.dir, "driver.jsonl"));
    const witness = await startWitness(journal);
    const server = await startServer(cast.backend, cast.persistence, setting.programs);
    const stage = new Stage(cast, setting, { server, witness, journal });
    for (let i = 0; i < cast.workers; i++) await stage.spawn();
    return stage;
  }

  get alive(): readonly WorkerProcess[] {
    return this.#workers.filter((worker) => worker.alive);
  }

  async spawn(): Promise<WorkerProcess> {
    const name = `w${++this.#spawned}`;
    const journal = join(this.dir, `${name}.jsonl`);
    const proxy = await startTcpProxy(this.server.port);
    const plan: Plan = { ...this.cast.plan, worker: name, journal, witness: this.witness.port, seed: this.dice.seed() };
    // Also there if the worker is killed before it begins.
    closeSync(openSync(journal, "a"));
    const { backend } = this.server;
    const worker = new WorkerProcess(this.#programs.worker, plan, {
      backend,
      url: this.server.urlAt(proxy.port),
      proxy,
    });
    this.#workers.push(worker);
    this.histories.push(journal);
    void worker.ended.then(({ code, signal, stderr }) => {
      if (code === 0 || this.#killed.has(worker)) return;
      this.violate("exit", `${name} ended with ${code ?? signal}: ${stderr.slice(0, 2_000)}`);
    });
    return worker;
  }

  /** A worker that acts under a lock right now, and the key of the lock. */
  async holder(): Promise<{ worker: WorkerProcess; key: string }> {
    for (let tries = 0; tries < 2_000; tries++) {
      const key = this.dice.pick(this.cast.plan.keys);
      const name = this.witness.holderOf(key, 15);
      const worker = this.alive.find((other) => other.name === name);
      if (worker) return { worker, key };
      await sleepMs(5);
    }
    throw new Error("no worker holds a lock for 10 s");
  }

  /** The same, but it has only just begun. */
  async newHolder(): Promise<{ worker: WorkerProcess; key: string }> {
    const before = new Map(this.cast.plan.keys.map((key) => [key, this.witness.leaseOf(key)]));
    for (let tries = 0; tries < 2_000; tries++) {
      const found = await this.holder();
      if (this.witness.leaseOf(found.key) !== before.get(found.key)) return found;
      await sleepMs(5);
    }
    throw new Error("no lock changes hands for 10 s");
  }

  /** A worker that has worked before and holds nothing now. */
  async waiter(): Promise<WorkerProcess> {
    for (let tries = 0; tries < 2_000; tries++) {
      const worker = this.dice.pick(this.alive);
      const seen = this.witness.lastSeen(worker.name);
      if (seen > 0 && monotonicMs() - seen > 60) return worker;
      await sleepMs(5);
    }
    throw new Error("no worker waits for 10 s");
  }

  /** Waits until every worker got a lock, and returns how long that took; a worker without one is a violation. */
  async allServed(withinMs: number): Promise<number> {
    const since = monotonicMs();
    const late = () => this.alive.filter(({ name }) => this.witness.lastSeen(name) <= since);
    while (late().length > 0 && monotonicMs() < since + withinMs) await sleepMs(10);
    for (const { name } of late()) {
      this.violate("liveness", `${name} got no lock within ${withinMs / 1_000} s although nothing is broken any more`);
    }
    return monotonicMs() - since;
  }

  violate(rule: Violation["rule"], what: string): void {
    this.violations.push({ rule, what, at: monotonicMs() });
  }

  async kill(worker: WorkerProcess, fault: Fault): Promise<void> {
    this.#fault({ fault, worker: worker.name });
    await this.remove(worker);
  }

  /** Ends a worker that does not end by itself. */
  async remove(worker: WorkerProcess): Promise<void> {
    this.#killed.add(worker);
    worker.signal("SIGKILL");
    await worker.ended;
  }

  /** SIGSTOP for a while. */
  async stop(worker: WorkerProcess, fault: Fault, forMs: number): Promise<void> {
    await this.#during({ fault, worker: worker.name }, async () => {
      worker.signal("SIGSTOP");
      await sleepMs(forMs);
      worker.signal("SIGCONT");
    });
  }

  /** A bad network for one worker, for a while. */
  async network(worker: WorkerProcess, network: Network, forMs: number): Promise<void> {
    await this.#during({ fault: faultOf(network), worker: worker.name }, async () => {
      worker.proxy.become(network);
      await sleepMs(forMs);
      worker.proxy.become({ mode: "pass" });
    });
  }

  /** SIGKILL and a new start. What it remembers is up to its persistence. */
  async restartServer(whileDown: () => Promise<void> = async () => {}): Promise<void> {
    const { persistence, plan } = this.cast;
    const forgets = persistence !== "always";
    const at = monotonicMs();
    const quarantine = forgets && this.server.hasQuarantine && { forgotMs: plan.maxTtlMs };
    await this.#during({ fault: "server restarted", ...quarantine }, async () => {
      await this.server.kill();
      await whileDown();
      await this.server.start();
    });
    // Without a quarantine it is as if every lock had been deleted.
    if (!forgets || this.server.hasQuarantine) return;
    for (const key of plan.keys) this.journal.write({ at, event: "fault", fault: "lock deleted", key });
  }

  /** SIGSTOP of the server for a while. */
  async stopServer(forMs: number): Promise<void> {
    await this.#during({ fault: "server stopped" }, async () => {
      await this.server.pause();
      await sleepMs(forMs);
      await this.server.resume();
    });
  }

  async deleteLock(key: string): Promise<void> {
    // The time before, for no worker can be granted it earlier; written after, for it may not come to that.
    const at = monotonicMs();
    await this.server.deleteLock(key);
    this.journal.write({ at, event: "fault", fault: "lock deleted", key });
  }

  /** Where there are scripts. */
  async forgetScripts(): Promise<void> {
    if (!this.server.redis) return;
    this.#fault({ fault: "scripts flushed" });
    await this.server.redis.forgetScripts();
  }

  async close(): Promise<void> {
    await Promise.all(this.alive.map((worker) => this.remove(worker)));
    await Promise.all(this.#workers.map(({ proxy }) => proxy.close()));
    await this.witness.close();
    await this.server.stop();
    this.journal.close();
  }

  async #during(fault: Omit<FaultEvent, "event">, broken: () => Promise<void>) {
    this.#fault(fault);
    await broken();
    const { fault: what, worker } = fault;
    this.journal.write({ at: monotonicMs(), event: "healed", fault: what, ...(worker !== undefined && { worker }) });
  }

  #fault(fault: Omit<FaultEvent, "event">) {
    this.journal.write({ at: monotonicMs(), event: "fault", ...fault });
  }
}

function faultOf({ mode }: Network): Fault {
  switch (mode) {
    case "pass":
    case "delay":
      return "slow network";
    case "hold-replies":
      return "slow replies";
    case "black-hole":
      return "black hole";
    case "cut":
      return "connection cut";
    case "one-byte":
      return "one-byte chunks";
  }
}
