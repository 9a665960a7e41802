import { setTimeout as sleep } from "node:timers/promises";
import { keyOf } from "../../src/coordination/index.ts";
import { baton } from "./baton.ts";
import type { Contender, Entry } from "./contender.ts";
import { interlock, interlockCohort, interlockDefaults } from "./interlock.ts";
import { machineMs } from "./machine-time.ts";
import { peers, pollers } from "./peers.ts";
import { waiting } from "./waiting.ts";
import type { Message, Request } from "./worker-messages.ts";

const entries = [interlock, interlockCohort, interlockDefaults, baton, ...peers, ...pollers];

/** One of the processes that want the same lock. */
class Worker {
  readonly #contenders = new Map<string, Contender>();
  #turns: number[] = [];
  #lastTurn: Promise<void> = Promise.resolve();
  #inHaste = false;

  async handle(request: Request): Promise<void> {
    switch (request.do) {
      case "open":
        await this.#open(request.contender, request.url);
        return send({ kind: "done" });
      case "take-turn":
        this.#lastTurn = this.#lastTurn.then(() => this.#takeTurn(request.contender, request.holdMs));
        return this.#lastTurn;
      case "finish-turns":
        return this.#finishTurns();
      case "saturate":
        return this.#saturate(request);
      case "wait":
        return send({ kind: "waited", waiting: await waiting(called(request.contender), request.url, request.plan) });
    }
  }

  async #open(name: string, url: string) {
    if (this.#contenders.has(name)) return;
    const contender = await called(name).open(url);
    this.#contenders.set(name, contender);
    const ownKey = keyOf("warm-up", name, process.pid);
    for (let i = 0; i < 20; i++) {
      const held = await contender.acquire(ownKey);
      await held.release();
    }
  }

  async #takeTurn(name: string, holdMs: number) {
    const askedAt = machineMs();
    const held = await this.#contender(name).acquire(keyOf("handoff", name));
    const gotAt = machineMs();
    send({ kind: "acquired" });
    if (!this.#inHaste) await sleep(holdMs);
    this.#turns.push(askedAt, gotAt, machineMs());
    await held.release();
  }

  async #finishTurns() {
    this.#inHaste = true;
    await this.#lastTurn;
    send({ kind: "turns", turns: Float64Array.from(this.#turns), cpuMicros: 0 });
    this.#turns = [];
    this.#inHaste = false;
  }

  async #saturate({ contender, loops, startAt, ms }: Extract<Request, { do: "saturate" }>) {
    await sleep(startAt - machineMs());
    const cpu = process.cpuUsage();
    const turns: number[] = [];
    await Promise.all(Array.from({ length: loops }, () => this.#loop(contender, startAt + ms, turns)));
    const { user, system } = process.cpuUsage(cpu);
    send({ kind: "turns", turns: Float64Array.from(turns), cpuMicros: user + system });
  }

  async #loop(name: string, until: number, turns: number[]) {
    const contender = this.#contender(name);
    const key = keyOf("saturation", name);
    for (let askedAt = machineMs(); askedAt < until; askedAt = machineMs()) {
      const held = await contender.acquire(key);
      const gotAt = machineMs();
      // A second holder at the same time would be detected here.
      await undefined;
      turns.push(askedAt, gotAt, machineMs());
      await held.release();
    }
  }

  #contender(name: string): Contender {
    const contender = this.#contenders.get(name);
    if (!contender) throw new Error(`${name} was not opened`);
    return contender;
  }
}

function called(name: string): Entry {
  const entry = entries.find((candidate) => candidate.name === name);
  if (!entry) throw new Error(`no contender is called ${name}`);
  return entry;
}

function send(message: Message) {
  process.send?.(message);
}

const worker = new Worker();
process.on("message", (request: Request) => {
  worker.handle(request).catch((error: unknown) => send({ kind: "failed", message: String(error) }));
});
// The main process is gone: so is the reason to be here.
process.on("disconnect", () => process.exit());
