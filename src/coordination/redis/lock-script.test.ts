import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRedis } from "../../../test/services/redis.ts";
import { RedisModel } from "../../../test/sim/redis-model.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { type Key, keyHash, keyOf } from "../key.ts";
import { RedisConnection } from "./connection.ts";
import type { LockOperation, Reply } from "./lock-link.ts";
import { enterScript } from "./lock-script.ts";
import { redisLockLink } from "./redis-lock-link.ts";
import { script } from "./script.ts";

let server: Awaited<ReturnType<typeof startRedis>>;
let connection: RedisConnection;
let subscriber: Redis;
let operator: Redis;
let runs = 0;

beforeAll(async () => {
  server = await startRedis();
  connection = new RedisConnection({ url: server.url, clock: systemClock(), random: systemRandom() });
  await connection.connect();
  subscriber = new Redis(server.url);
  operator = new Redis(server.url);
});

afterAll(async () => {
  subscriber.disconnect();
  operator.disconnect();
  await connection.close();
  await server.stop();
});

describe("the lock script", () => {
  it("responds and pushes like its model, for any requests in any order", {
    timeout: 180_000,
  }, async () => {
    const sequences = fc.array(anyStep(), { minLength: 40, maxLength: 60 });
    await fc.assert(fc.asyncProperty(sequences, compare), { numRuns: 300 });
  });

  it("skips at most 64 bids of clients that are gone, and reaches the rest at the next request", async () => {
    const gone = Array.from({ length: 70 }, (_, i) => ask("a", { client: 1, holder: i }));

    await compare([
      { do: "listen", client: 1, on: false },
      { do: "listen", client: 2, on: true },
      { do: "ask", questions: [ask("a", { client: 0 })] },
      { do: "ask", questions: gone },
      { do: "ask", questions: [ask("a", { client: 2 })] },
      { do: "ask", questions: [ask("r", { client: 0 })] },
      { do: "ask", questions: [ask("t", { client: 0, holder: 1 })] },
      { do: "ask", questions: [ask("s", { client: 2 })] },
    ]);
  });

  it("keeps a lock for its holder when the server has forgotten it, and grants nothing meanwhile", async () => {
    await compare([
      { do: "ask", questions: [ask("a", { client: 0 })] },
      { do: "expire", key: 0 },
      { do: "quarantine" },
      { do: "ask", questions: [ask("t", { client: 1 }), ask("n", { client: 0 }), ask("a", { client: 1, holder: 1 })] },
      { do: "trust" },
      { do: "ask", questions: [ask("t", { client: 1 }), ask("r", { client: 0 }), ask("s", { client: 1, holder: 1 })] },
    ]);
  });
});

describe("a new connection", () => {
  it("grants nothing on an unknown server for as long as a lease may still last", async () => {
    const names = freshNames();

    const waitMs = await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: 20_000 });

    expect(waitMs).toBeGreaterThan(9_000);
    expect(waitMs).toBeLessThanOrEqual(10_000);
    expect(await operator.get(names.fences)).toBe("quarantine");
  });

  it("learns how long others have closed them for", async () => {
    const names = freshNames();
    await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: 20_000 });

    const waitMs = await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: 21_000 });

    expect(waitMs).toBeGreaterThan(9_000);
  });

  it("grants nothing for longer if its own leases last longer than those of the first connection", async () => {
    const names = freshNames();
    await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: 20_000 });

    const waitMs = await enter(names, { runId: "one", maxTtlMs: 120_000, upMs: 21_000 });

    expect(waitMs).toBeGreaterThan(98_000);
    expect(await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: 22_000 })).toBeGreaterThan(97_000);
  });

  it("waits once after a failover, however many connections follow", async () => {
    const names = freshNames();
    await enter(names, { runId: "one", maxTtlMs: 10_000, upMs: -1 });

    const waitMs = await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: -1 });

    expect(waitMs).toBeGreaterThan(9_000);
    expect(waitMs).toBeLessThanOrEqual(10_000);
  });

  it("uses a known server at once, or one that has been up for longer than any lease", async () => {
    const names = freshNames();

    const unknown = await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: 30_000 });
    const known = await enter(names, { runId: "one", maxTtlMs: 30_000, upMs: 0 });

    expect([unknown, known]).toEqual([0, 0]);
    expect(await operator.get(names.fences)).toBeNull();
  });
});

/** What happens to both: a call with several operations, or something that befalls the server. */
type Step =
  | { readonly do: "ask"; readonly questions: readonly PendingOperation[] }
  | { readonly do: "listen"; readonly client: number; readonly on: boolean }
  /** Deleted, which is what expiry looks like to the next operation. */
  | { readonly do: "expire"; readonly key: number }
  | { readonly do: "quarantine" | "trust" };

interface PendingOperation {
  readonly mode: LockOperation["mode"];
  readonly key: number;
  readonly client: number;
  readonly holder: number;
  /** Comes with the clear text of another key. */
  readonly impostor: boolean;
}

function anyStep(): fc.Arbitrary<Step> {
  const key = fc.nat({ max: 2 });
  const client = fc.nat({ max: 2 });
  const question = fc.record({
    mode: fc.constantFrom<LockOperation["mode"]>("a", "a", "s", "t", "n", "r", "r", "c"),
    key,
    client,
    holder: fc.nat({ max: 3 }),
    impostor: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
  });
  return fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({ do: fc.constant("ask"), questions: fc.array(question, { minLength: 1, maxLength: 6 }) }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("listen"), client, on: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("expire"), key }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("quarantine", "trust") }) },
  ) as fc.Arbitrary<Step>;
}

function ask(mode: LockOperation["mode"], { key = 0, client = 0, holder = 0 }): PendingOperation {
  return { mode, key, client, holder, impostor: false };
}

/** Takes both through the same steps and compares each answer and each push. */
async function compare(steps: readonly Step[]) {
  const pair = new Pair(`${++runs}:`);
  await pair.open();
  try {
    for (const step of steps) await pair.take(step);
    pair.compareFences();
  } finally {
    await pair.close();
  }
}

const keys = [keyOf("a"), keyOf("b"), keyOf("c")];
const quarantineMs = 60_000;

/** The script in a real Redis and its model, side by side. */
class Pair {
  readonly #prefix: string;
  readonly #link;
  readonly #model: RedisModel;
  readonly #listening = new Set<string>();
  readonly #pushes = { real: [] as string[], model: [] as string[] };
  /** Fences that stand for each other. They are not equal, because the counters begin at different moments. */
  readonly #fences = new Map<string, string>();
  /** The last fence of each holder, on both sides. */
  readonly #held = new Map<string, { readonly real: string; readonly model: string }>();
  readonly #startedAt = performance.now();
  #skippedMs = 0;
  #quarantines = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#link = redisLockLink(connection, { prefix, clientId: "observer", maxTtlMs: 0, clock: systemClock() });
    this.#model = new RedisModel(
      () => performance.timeOrigin + performance.now() + this.#skippedMs,
      (client, message) => this.#listening.has(client) && this.#pushes.model.push(message) > 0,
    );
  }

  /** Two of the three clients listen at first. */
  async open(): Promise<void> {
    subscriber.on("message", this.#onMessage);
    for (const client of ["c0", "c1"]) await this.#listen(client, true);
  }

  async close(): Promise<void> {
    subscriber.off("message", this.#onMessage);
    for (const client of this.#listening) await subscriber.unsubscribe(this.#channel(client));
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "ask":
        return this.#ask(step.questions);
      case "listen":
        return this.#listen(`c${step.client}`, step.on);
      case "expire":
        this.#model.deleteLock(keys[step.key] as Key);
        await operator.del(`${this.#prefix}{${keyHash(keys[step.key] as Key)}}`);
        return;
      case "quarantine":
        this.#model.enter(`run-${++this.#quarantines}`, quarantineMs, 0);
        await operator.set(`${this.#prefix}fence`, "quarantine", "PX", quarantineMs);
        return;
      case "trust":
        this.#model.enter(`run-${++this.#quarantines}`, 1, 0);
        this.#skippedMs += 2;
        await operator.del(`${this.#prefix}fence`);
    }
  }

  /** Later ones are larger on both sides, or on neither. */
  compareFences(): void {
    const pairs = [...this.#fences].map(([real, model]) => [BigInt(real), BigInt(model)] as const);
    const inOrder = (side: 0 | 1) => [...pairs].sort((a, b) => (a[side] < b[side] ? -1 : 1));
    expect(inOrder(0)).toEqual(inOrder(1));
    expect(new Set(this.#fences.values()).size).toBe(this.#fences.size);
  }

  async #ask(questions: readonly PendingOperation[]) {
    const real = await this.#link.send(questions.map((question) => this.#operation(question, "real")));
    const model = this.#model.execute(questions.map((question) => this.#operation(question, "model")));
    await subscriber.ping();

    expect(real.serverMs === undefined).toBe(model.serverMs === undefined);
    for (const [i, question] of questions.entries()) {
      this.#compareReplies(question, real.each[i] as Reply, model.each[i] as Reply);
    }
    expect(this.#pushes.real).toHaveLength(this.#pushes.model.length);
    for (const [i, message] of this.#pushes.real.entries()) {
      this.#comparePushes(message, this.#pushes.model[i] as string);
    }
    this.#pushes.real.length = this.#pushes.model.length = 0;
  }

  #operation({ mode, key, client, holder, impostor }: PendingOperation, side: "real" | "model"): LockOperation {
    const id = `c${client}.${holder}`;
    const fence = Number(this.#held.get(id)?.[side] ?? 7);
    return {
      mode,
      key: keys[key] as Key,
      holder: id,
      ttlMs: 60_000 * (1 + (holder % 2)),
      number: mode === "n" ? fence : 1 + (holder % 3),
      tail: `${impostor ? "other" : keys[key]}|test/${client}|for ${holder}`,
    };
  }

  #compareReplies({ mode, client, holder }: PendingOperation, real: Reply, model: Reply) {
    if (typeof real === "string" || typeof model === "string") return this.#compareValues(real, model);
    if (typeof real === "number" || typeof model === "number") {
      expect(typeof real).toBe(typeof model);
      if ("nrc".includes(mode)) return expect(real).toBe(model);
      return this.#granted(`c${client}.${holder}`, String(real), String(model));
    }
    const [code, ...rest] = real;
    const [modelCode, ...modelRest] = model;
    expect(rest).toHaveLength(modelRest.length);
    if (Number(code) > 0) {
      this.#granted(`c${client}.${holder}`, String(code), String(modelCode));
      return this.#compareMs(rest[0] as number, modelRest[0] as number);
    }
    expect(code).toBe(modelCode);
    if (code === -2) return this.#compareValues(rest[0] as string, modelRest[0] as string);
    this.#compareMs(rest[0] as number, modelRest[0] as number);
    if (code === 0) this.#compareValues(rest[1] as string, modelRest[1] as string);
    expect(rest[2]).toBe(modelRest[2]);
  }

  /** Values of L, or empty. */
  #compareValues(real: Reply, model: Reply) {
    const [holder, fence = "", ...tail] = String(real).split("|");
    const [modelHolder, modelFence = "", ...modelTail] = String(model).split("|");
    expect([holder, ...tail]).toEqual([modelHolder, ...modelTail]);
    if (holder) this.#pairUp(fence, modelFence);
  }

  #comparePushes(real: string, model: string) {
    const [holder = "", fence = "", _now, grantedMs] = real.split("|");
    const [modelHolder, modelFence = "", _modelNow, modelGrantedMs] = model.split("|");
    expect([holder, grantedMs]).toEqual([modelHolder, modelGrantedMs]);
    this.#granted(holder, fence, modelFence);
  }

  /** Two clocks were read, one after the other. */
  #compareMs(real: number, model: number) {
    if (real < 0 || model < 0) return expect(real).toBe(model);
    expect(Math.abs(real - model)).toBeLessThan(performance.now() - this.#startedAt + this.#skippedMs + 5);
  }

  #granted(holder: string, real: string, model: string) {
    this.#held.set(holder, { real, model });
    this.#pairUp(real, model);
  }

  #pairUp(real: string, model: string) {
    expect(this.#fences.get(real) ?? model).toBe(model);
    this.#fences.set(real, model);
  }

  async #listen(client: string, on: boolean) {
    if (on) {
      await subscriber.subscribe(this.#channel(client));
      this.#listening.add(client);
    } else {
      await subscriber.unsubscribe(this.#channel(client));
      this.#listening.delete(client);
    }
  }

  readonly #onMessage = (channel: string, message: string) => {
    if (channel.startsWith(this.#channel(""))) this.#pushes.real.push(message);
  };

  #channel(client: string): string {
    return `${this.#prefix}w:${client}`;
  }
}

function freshNames() {
  const prefix = `enter-${++runs}:`;
  return { fences: `${prefix}fence`, run: `${prefix}run` };
}

async function enter(
  { fences, run }: { fences: string; run: string },
  { runId, maxTtlMs, upMs }: { runId: string; maxTtlMs: number; upMs: number },
): Promise<number> {
  return Number(await connection.run(script(enterScript), [fences, run], [runId, maxTtlMs, upMs]));
}
