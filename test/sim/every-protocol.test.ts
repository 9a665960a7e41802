import { describe, expect, it } from "vitest";
import { protocols } from "./protocols.ts";
import { simulate } from "./simulate.ts";

/** A sample of every protocol's campaign; `npm run proof` runs the campaigns themselves, with their mutants. */
const slowProtocols: Readonly<Record<string, number>> = {
  executor: 5,
  gateway: 3,
  orchestrator: 1,
  agent: 1,
  "gateway-100": 0,
  "orchestrator-100": 0,
};

const samples = Object.keys(protocols)
  .map((protocol) => ({ protocol, seeds: slowProtocols[protocol] ?? 40 }))
  .filter(({ seeds }) => seeds > 0);

describe("a sample of each simulation", () => {
  it.each(samples)(
    "of $protocol finds no violation in $seeds seeds",
    { timeout: 300_000 },
    async ({ protocol, seeds }) => {
      const campaign = await simulate({ protocol, from: 1, seeds });

      expect(campaign.violations).toEqual([]);
      expect(campaign.seeds).toBe(seeds);
    },
  );
});
