import type { Config, LoadedConfig } from "../config/index.ts";
import type { PolicySettings } from "../policy/index.ts";
import type { StageOptions } from "./stage.ts";

/** The settings of the policy in a configuration that also lists the engines. */
export function policySettings({ execution, ineffective }: Config): PolicySettings {
  return {
    cooldownMs: execution.cooldownMs,
    backoff: {
      baseMs: execution.backoffBaseMs,
      maxMs: execution.backoffMaxMs,
      maxExponent: execution.backoffMaxExponent,
      jitter: execution.backoffJitter,
    },
    maxConsecutiveFailures: execution.maxConsecutiveFailures,
    ineffective,
    observe: execution.observe,
    observeTargets: execution.observeTargets,
    engines: { available: execution.engines, default: execution.engine },
  };
}

/** The same for a stage. A stage in its own process has the engines of the executors only if its settings list them. */
export function stagePolicySettings({ loaded, onlyUser }: Pick<StageOptions, "loaded" | "onlyUser">): PolicySettings {
  return knownPolicySettings(loaded, { sharesExecutor: onlyUser !== undefined });
}

/** Without the engines, where the configuration is another's than the executor's and does not name them. */
export function knownPolicySettings(
  { config, origins }: Pick<LoadedConfig, "config" | "origins">,
  { sharesExecutor }: { readonly sharesExecutor: boolean },
): PolicySettings {
  const { engines, ...settings } = policySettings(config);
  const isKnown = sharesExecutor || origins.get("execution.engines") !== "default";
  return isKnown && engines ? { ...settings, engines } : settings;
}
