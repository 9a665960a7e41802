import { describeConfig, type LoadedConfig } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";

/** Logs each setting with its value and its origin, and the doubts about them. Secrets are redacted by the description. */
export function logConfig(loaded: Pick<LoadedConfig, "config" | "origins" | "warnings">, log: Logger): void {
  for (const { setting, value, origin } of describeConfig(loaded)) {
    const isChosen = origin !== "default" && !origin.startsWith("as ");
    log[isChosen ? "info" : "debug"]("setting", { setting, value, origin });
  }
  for (const warning of loaded.warnings) log.warn("setting in doubt", { warning });
}
