import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisService, startRedis } from "../../../test/services/redis.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { ClaimScripts } from "../../../test/sim/claim-backends.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { claimScript, renewScript, settleScript } from "./claim-script.ts";
import { RedisConnection } from "./connection.ts";
import { script } from "./script.ts";

let server: RedisService;
let connection: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  connection = new RedisConnection({ url: server.url, clock: systemClock(), random: systemRandom() });
  await connection.connect();
});

afterAll(async () => {
  await connection.close();
  await server.stop();
});

describe("the claim scripts", () => {
  it("return the same as their model in the simulation", async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const chance = new Chance(seed);
      const model = new ClaimScripts(() => 1_700_000_000_000);
      const fences = { redis: new Map<string, number>(), model: new Map<string, number>() };

      for (let step = 0; step < 30; step++) {
        const call = randomCall(chance, seed);
        const real = await connection.run(script(call.text), call.keys, call.args(fences.redis));
        const modelled = model.run(call.text, call.keys, call.args(fences.model));

        note(fences.redis, call, real);
        note(fences.model, call, modelled);
        expect(shape(modelled), `seed ${seed}, step ${step}`).toEqual(shape(real));
      }
    }
  });
});

interface Call {
  readonly text: string;
  readonly keys: readonly string[];
  readonly holder: string;
  args(fences: Map<string, number>): (string | number)[];
}

function randomCall(chance: Chance, seed: number): Call {
  const key = `${seed}:c:${chance.whole(1, 2)}`;
  const holder = `h.${chance.whole(1, 3)}`;
  const start = (fences: Map<string, number>) => `C|${holder}|${fences.get(`${key} ${holder}`) ?? 1}|`;
  switch (chance.whole(0, 3)) {
    case 0:
    case 1:
      return { text: claimScript, keys: [`${seed}:f`, key], holder, args: () => [holder, 60_000, "hash", "who"] };
    case 2:
      return { text: renewScript, keys: [key], holder, args: (fences) => [start(fences), 60_000] };
    default: {
      const letter = chance.pick(["D", "X", "R"]);
      const ttlMs = letter === "R" && chance.happens(0.5) ? 0 : 60_000;
      const args = (fences: Map<string, number>) => {
        const fence = fences.get(`${key} ${holder}`) ?? 1;
        return [start(fences), `${letter}|${fence}|`, "hash", "text", ttlMs];
      };
      return { text: settleScript, keys: [key], holder, args };
    }
  }
}

/** Fences differ between the two, because their clocks do; each is fed its own. */
function note(fences: Map<string, number>, { text, keys, holder }: Call, reply: unknown) {
  if (text !== claimScript) return;
  const [fence = 0] = reply as number[];
  if (fence > 0) fences.set(`${keys[1]} ${holder}`, fence);
}

/** A reply without what depends on clocks: fences, times, and how long a record still lasts. */
function shape(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.slice(0, 2).map(shape);
  if (typeof reply === "number") return reply > 1e9 ? "fence" : reply;
  return String(reply).replace(/\d{10,}/g, "#");
}
