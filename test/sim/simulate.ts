import { protocols, type Run } from "./protocols.ts";

export interface Campaign {
  readonly seeds: number;
  readonly steps: number;
  readonly fewestSteps: number;
  readonly grants: number;
  readonly faults: ReadonlyMap<string, number>;
  /** With the command that repeats it. */
  readonly violations: readonly string[];
}

export interface CampaignOptions {
  readonly protocol: string;
  readonly from: number;
  readonly seeds: number;
  readonly mutant?: string | undefined;
  /** Stop at the first violation: enough to know that a mutant is caught. */
  readonly untilFirst?: boolean;
}

/** Runs many seeds of one protocol. */
export async function simulate(options: CampaignOptions): Promise<Campaign> {
  const { protocol, from, seeds, mutant, untilFirst = false } = options;
  const run = chosen(protocol, mutant);
  const faults = new Map<string, number>();
  const violations: string[] = [];
  let steps = 0;
  let fewestSteps = Number.POSITIVE_INFINITY;
  let grants = 0;
  let seed = from;
  for (; seed < from + seeds && !(untilFirst && violations.length > 0); seed++) {
    const result = await run(seed, faults);
    steps += result.steps;
    fewestSteps = Math.min(fewestSteps, result.steps);
    grants += result.grants;
    if (result.violation) violations.push(`${result.violation}\n  repeat: ${replay(protocol, seed, mutant)}`);
  }
  return { seeds: seed - from, steps, fewestSteps, grants, faults, violations };
}

function replay(protocol: string, seed: number, mutant?: string): string {
  return `npm run sim -- --protocol ${protocol} --seed ${seed}${mutant ? ` --mutant ${mutant}` : ""}`;
}

function chosen(protocol: string, mutant?: string): Run {
  const found = protocols[protocol];
  if (!found) throw new TypeError(`no protocol "${protocol}"; there are ${Object.keys(protocols).join(", ")}`);
  if (mutant === undefined) return found.run;
  const broken = found.mutants[mutant];
  if (!broken) throw new TypeError(`no mutant "${mutant}"; ${protocol} has ${Object.keys(found.mutants).join(", ")}`);
  return broken;
}

/** The runs and the number of each fault, for display. */
export function describe(protocol: string, { seeds, steps, grants, faults }: Campaign): string {
  const struck = [...faults].sort(([, a], [, b]) => b - a).map(([fault, times]) => `  ${fault}: ${times}`);
  return [`${protocol}: ${seeds} seeds, ${steps} steps, ${grants} grants; faults:`, ...struck].join("\n");
}
