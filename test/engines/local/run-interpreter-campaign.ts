import fc from "fast-check";
import type { Step } from "../../../src/engines/local/pipeline/spec.ts";
import { anyHostileValue, anyStep, createsFile, isAccepted } from "./interpreter-campaign.ts";

export interface InterpreterReport {
  readonly generated: number;
  readonly executed: number;
  /** Programs of which at least one spelling was executed. */
  readonly programs: readonly string[];
  /** The smallest step that was found to create a file, as JSON. */
  readonly failure: string | undefined;
}

/** Generates steps, and executes those that a workflow may contain, in batches of 40 with a hostile value each. */
export async function runCampaign(options: {
  readonly batches: number;
  readonly seed: number;
}): Promise<InterpreterReport> {
  let generated = 0;
  let executed = 0;
  const programs = new Set<string>();
  const creators: Step[] = [];
  const property = fc.asyncProperty(
    fc.array(fc.tuple(anyStep, anyHostileValue), { minLength: 1, maxLength: 40, size: "max" }),
    async (batch) => {
      generated += batch.length;
      const accepted = batch.filter(([step]) => hasSubstitution(step) && isAccepted(step));
      for (let at = 0; at < accepted.length; at += 4) {
        await Promise.all(
          accepted.slice(at, at + 4).map(async ([step, hostile]) => {
            executed++;
            programs.add(programOf(step));
            if (await createsFile(step, hostile)) creators.push(step);
          }),
        );
      }
      return creators.length === 0;
    },
  );
  const { failed } = await fc.check(property, { numRuns: options.batches, seed: options.seed, endOnFailure: true });
  return {
    generated,
    executed,
    programs: [...programs].sort(),
    failure: failed ? JSON.stringify(creators) : undefined,
  };
}

/** A step without a parameter has nothing to run a value with. */
function hasSubstitution(step: Step): boolean {
  return JSON.stringify(step).includes("$(params.");
}

function programOf({ command, script = "" }: Step): string {
  return (command?.[0] ?? script.slice(2).split(/\s/)[0] ?? "").split("/").at(-1) ?? "";
}
