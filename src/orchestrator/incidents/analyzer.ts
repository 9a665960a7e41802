import type { Analysis } from "../../policy/index.ts";
import { type RemediationRequest, type RemediationRequestSpec, viewsBySeries } from "../../resources/index.ts";

/** Port: diagnoses incidents. Rules by default. */
export interface Analyzer {
  /**
   * Returns the same analysis for the same incident until `changed` is called or the facts of its objects change. `subject` is
   * the object of the signal, in canonical form. An error is retried.
   */
  analyze(incident: RemediationRequestSpec, signal: AbortSignal, subject?: string): Promise<Analysis>;
  /** Calls `changed` when analyses may change, until the returned function is called. */
  subscribe(changed: () => void): () => void;
}

/** Analyzes an incident: the most severe of its series for which there is a diagnosis. */
export async function analyzeSeries(
  incident: RemediationRequest,
  analyzer: Analyzer,
  signal: AbortSignal,
): Promise<Analysis> {
  const tried = new Set<string>();
  let dependsOnFacts = false;
  for (const { spec, subject } of viewsBySeries(incident)) {
    const analysis = await analyzer.analyze(spec, signal, subject);
    // A rule that could not be evaluated may exclude the less severe series.
    if (analysis.kind === "diagnosed" || analysis.unreadable) return analysis;
    for (const reason of analysis.tried) tried.add(reason);
    dependsOnFacts ||= analysis.dependsOnFacts ?? false;
  }
  return { kind: "no-match", tried: [...tried].slice(0, maxTried), ...(dependsOnFacts && { dependsOnFacts }) };
}

/** The maximum number of listed reasons of several series: many differ only in the name of a Pod. */
const maxTried = 30;
