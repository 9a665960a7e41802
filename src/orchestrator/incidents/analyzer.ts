import type { Analysis } from "../../policy/index.ts";
import { type RemediationRequest, type RemediationRequestSpec, viewsBySeries } from "../../resources/index.ts";

/** Port: finds what to do about an incident. Rules by default. */
export interface Analyzer {
  /**
   * The same answer for the same incident, until `changed` is called or the facts of its objects change. `subject` is what
   * the signal named, in canonical form. A throw is tried again.
   */
  analyze(incident: RemediationRequestSpec, signal: AbortSignal, subject?: string): Promise<Analysis>;
  /** Calls `changed` when incidents may be answered otherwise from now on, until the returned function is called. */
  subscribe(changed: () => void): () => void;
}

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

/** Of several series, no more reasons than this are listed: many differ only in the name of a Pod. */
const maxTried = 30;
