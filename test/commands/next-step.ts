import { expect } from "vitest";
import { until } from "../executor/processes/until.ts";
import type { UpProcess } from "../services/up-process.ts";

/** What `why` says of an incident once it is in a phase. */
export async function whyOf(up: UpProcess, incident: string, phase: string): Promise<string> {
  return until(`${incident} is ${phase}`, async () => {
    const { out, err } = await up.interlock("why", incident);
    if (err) throw new Error(err);
    return new RegExp(`phase +${phase}`).test(out) ? out : undefined;
  });
}

/** Types what `expected` finds in what was said, with a reason where one is wanted. */
export async function nextStepWorks(up: UpProcess, expected: RegExp, said: string): Promise<void> {
  expect(said).toMatch(expected);
  const [, ...words] = expected.exec(said) ?? [];
  const { status, err } = await up.interlock(...words, ...(words.includes("--reason") ? ["a reason"] : []));
  expect(err).toBe("");
  expect(status).toBe(0);
}
