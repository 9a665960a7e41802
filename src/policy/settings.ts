import type { Engine } from "../resources/index.ts";

/** The settings of the policy. */
export interface PolicySettings {
  /** How long a workflow waits after a success on the same target, unless the workflow sets its own. */
  readonly cooldownMs: number;
  readonly backoff: FailureBackoff;
  /** After this number of failures in a row before acting, an operator has to acknowledge. */
  readonly maxConsecutiveFailures: number;
  /** After this number of successes within this time that did not last, the fix is ineffective. */
  readonly ineffective: { readonly times: number; readonly withinMs: number };
  /** Decide and record everything, start nothing. */
  readonly observe: boolean;
  /** The same for single targets, or for those of a namespace (`payment/*`), each with the reason. */
  readonly observeTargets: ReadonlyMap<string, string>;
  /** The configured engines. Absent where they are unknown: then only the executor checks them. */
  readonly engines?: EngineSetup;
}

export interface EngineSetup {
  readonly available: readonly Engine[];
  /** The engine of a workflow that names none. */
  readonly default: Engine;
}

/** How long a workflow waits after its n-th failure in a row before acting: base × 2^(n−1), the exponent limited. */
export interface FailureBackoff {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly maxExponent: number;
  /** The random share of the delay: 0.1 is ±10 %. */
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
