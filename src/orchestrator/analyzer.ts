import type { Analysis } from "../policy/index.ts";
import type { RemediationRequestSpec } from "../resources/index.ts";

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
