import type { Engine } from "../resources/index.ts";

/** The settings of the policy. */
export interface PolicySettings {
  /** How long a workflow waits after a success on the same target, unless the workflow sets its own. */
  readonly cooldownMs: number;
  readonly backoff: FailureBackoff;
  /** So many failures in a row before acting, and a person has to look. */
  readonly maxConsecutiveFailures: number;
  /** The same fix "succeeded" so often in so long, while the incident kept coming back: it does not help. */
  readonly ineffective: { readonly times: number; readonly withinMs: number };
  /** Decide and record everything, start nothing. */
  readonly observe: boolean;
  /** The same for single targets, or for those of a namespace (`payment/*`), each with the reason. */
  readonly observeTargets: ReadonlyMap<string, string>;
  /** What runs workflows here. Absent where that is not known: then only the executor judges. */
  readonly engines?: EngineSetup;
}

export interface EngineSetup {
  readonly available: readonly Engine[];
  /** What runs a workflow that names none. */
  readonly default: Engine;
}

/** How long a workflow waits after its n-th failure in a row before acting: base × 2^(n−1), the exponent limited. */
export interface FailureBackoff {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly maxExponent: number;
  /** Share of the delay that chance may add or take away: 0.1 is ±10 %. */
  readonly jitter: number;
}

export const defaultPolicy: PolicySettings = {
  cooldownMs: 5 * 60_000,
  backoff: { baseMs: 60_000, maxMs: 10 * 60_000, maxExponent: 4, jitter: 0 },
  maxConsecutiveFailures: 5,
  ineffective: { times: 3, withinMs: 4 * 3_600_000 },
  observe: false,
  observeTargets: new Map(),
};
