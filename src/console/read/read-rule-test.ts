import { RequestError } from "../projection/projection.ts";
import type { RuleTest, RuleTestResult } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";
import { testSignals } from "./rule-test.ts";

/** What the rules in force would do about a payload of a source. Throws RequestError while the rules cannot be read. */
export async function readRuleTest({ source, payload }: RuleTest, context: ReadContext): Promise<RuleTestResult> {
  const { rules, problems } = await context.rules();
  if (problems.length > 0) throw new RequestError(`the rules have to be corrected first: ${problems.join("; ")}`);
  return { signals: await testSignals(await context.preview(source, payload), rules, context) };
}
