import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Rule } from "./check.ts";
import type { Defect } from "./locks-under-test.ts";
import { perform, type Scenario } from "./perform.ts";
import { scenariosOn } from "./scenarios.ts";
import type { Cast } from "./stage.ts";
import { openTheatre, type Theatre } from "./theatre.ts";

// A checker that never complains proves nothing: these locks are wrong, each in its own way.
describe.concurrent("the checker notices locks", { timeout: 120_000 }, () => {
  let theatre: Theatre;

  beforeAll(async () => {
    theatre = await openTheatre();
  });
  afterAll(() => rmSync(theatre.dir, { recursive: true }));

  it.for<[why: string, Defect, scenario: string, Rule[]]>([
    [
      "that go on after their lease has ended",
      "no-deadline",
      "a holder is cut off in silence",
      ["exclusion", "notice"],
    ],
    ["that count their lease from a late answer", "late-deadline", "replies take longer than a lease", ["exclusion"]],
    ["that say released without having asked", "always-released", "holders are stopped", ["outcome"]],
    ["that forget a caller but not its bid", "leaky-abort", "nothing is broken", ["liveness"]],
    ["made of SET NX and DEL", "naive", "holders are stopped", ["exclusion", "fence order", "witness"]],
  ])("%s", async ([, defect, name, rules]) => {
    const broken = new Set<Rule>();

    // Whether the mistake does harm is a matter of chance: on a busy machine it may take more than one try.
    for (let seed = 1; seed <= 3 && !rules.every((rule) => broken.has(rule)); seed++) {
      const { violations } = await perform(flawed(name, defect), seed, theatre);
      for (const { rule } of violations) broken.add(rule);
    }

    expect([...broken]).toEqual(expect.arrayContaining(rules));
  });
});

function flawed(name: string, defect: Defect): Scenario {
  const { plan, ...cast } = { ...scenario(name).cast, ...provoking(defect) };
  return { ...scenario(name), serveWithinMs: 8_000, cast: { ...cast, plan: { ...plan, defect } } };
}

function scenario(name: string): Scenario {
  const found = scenariosOn("redis").find((candidate) => candidate.name === name);
  if (!found) throw new Error(`there is no scenario "${name}"`);
  return found;
}

/** Who and what brings the mistake to light within seconds. */
function provoking(defect: Defect): Partial<Cast> {
  const { plan } = scenario("nothing is broken").cast;
  switch (defect) {
    case "leaky-abort":
      return { plan: { ...plan, keys: ["a"], ttlMs: 700, cohort: 1, impatience: 1, holdMs: [200, 400] } };
    case "late-deadline": {
      // Who polls over a slow network is hardly ever first, unless the others leave room.
      const keys = ["a", "b", "c", "d", "e", "f"];
      return { workers: 3, plan: { ...plan, ttlMs: 1_000, keys, lanes: 10, idleMs: [0, 1_500], holdMs: [100, 400] } };
    }
    default:
      return {};
  }
}
