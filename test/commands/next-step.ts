import { expect } from "vitest";
import { until } from "../executor/processes/until.ts";
import type { UpProcess } from "../services/up-process.ts";

/** What `why` prints about an incident once it is in a phase. */
export async function whyOf(up: UpProcess, incident: string, phase: string): Promise<string> {
  return until(`${incident} is ${phase}`, async () => {
    const { out, err } = await up.interlock("why", incident);
    if (err) throw new Error(err);
    return new RegExp(`phase +${phase}`).test(out) ? out : undefined;
  });
}

/** Types what `expected` finds in `printed`, with a reason where one is wanted. */
export async function nextStepWorks(up: UpProcess, expected: RegExp, printed: string): Promise<void> {
  expect(printed).toMatch(expected);
  const [, ...words] = expected.exec(printed) ?? [];
  const { status, err } = await up.interlock(...words, ...(words.includes("--reason") ? ["a reason"] : []));
  expect(err).toBe("");
  expect(status).toBe(0);
}
