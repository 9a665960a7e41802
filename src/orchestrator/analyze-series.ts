import type { Analysis } from "../policy/index.ts";
import { type RemediationRequest, viewsBySeries } from "../resources/index.ts";
import type { Analyzer } from "./analyzer.ts";

/** Of several series, no more reasons than this are listed: many differ only in the name of a Pod. */
const maxTried = 30;

/** What to do about an incident: what the rules give for the most severe of its series for which they give anything. */
export async function analyzeSeries(
  incident: RemediationRequest,
  analyzer: Analyzer,
  signal: AbortSignal,
): Promise<Analysis> {
  const tried = new Set<string>();
  let dependsOnFacts = false;
  for (const { spec, subject } of viewsBySeries(incident)) {
    const analysis = await analyzer.analyze(spec, signal, subject);
    // A less severe series may be just what a rule that could not be judged is an exception from.
    if (analysis.kind === "diagnosed" || analysis.unreadable) return analysis;
    for (const reason of analysis.tried) tried.add(reason);
    dependsOnFacts ||= analysis.dependsOnFacts ?? false;
  }
  return { kind: "no-match", tried: [...tried].slice(0, maxTried), ...(dependsOnFacts && { dependsOnFacts }) };
}
