import { expect, it } from "vitest";
import { protocols } from "./protocols.ts";
import { type CampaignOptions, describe as describeCampaign, simulate } from "./simulate.ts";

/** One campaign as a test: no violation, enough steps, and every kind of fault seen often enough to mean something. */
export function holdsInSimulation(options: CampaignOptions, faultKinds: readonly string[]): void {
  const { protocol, from, seeds } = options;
  it(`keeps its promises in seeds ${from} to ${from + seeds - 1}`, { timeout: 600_000 }, async () => {
    const campaign = await simulate(options);

    console.log(describeCampaign(protocol, campaign));
    expect(campaign.violations).toEqual([]);
    expect(campaign.seeds).toBe(seeds);
    expect(campaign.fewestSteps).toBeGreaterThanOrEqual(200);
    for (const kind of faultKinds) expect(campaign.faults.get(kind), kind).toBeGreaterThanOrEqual(100);
  });
}

/** Every known mistake is found; otherwise a clean campaign would prove nothing. */
export function mutantsAreCaught(protocol: string, seeds = 1_000): void {
  it.each(Object.keys(protocols[protocol]?.mutants ?? {}))(
    "catches the mutant %s",
    { timeout: 120_000 },
    async (mutant) => {
      const { violations } = await simulate({ protocol, from: 1, seeds, mutant, untilFirst: true });

      expect(violations).not.toEqual([]);
    },
  );
}
