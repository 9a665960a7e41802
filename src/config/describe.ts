import type { LoadedConfig, Origin } from "./load.ts";
import { type Config, settings } from "./schema.ts";

export interface DescribedSetting {
  readonly setting: string;
  /** As it would be written in a file; `[redacted]` for a secret, `not set` where there is no value. */
  readonly value: string;
  readonly origin: Origin;
}

type Described = Pick<LoadedConfig, "config" | "origins">;

/** Every setting with its value and where that came from: for the start-up log and `--print-config`. */
export function describeConfig({ config, origins }: Described): readonly DescribedSetting[] {
  const sections: Record<string, Record<string, unknown>> = config;
  return settings.map(({ path, section, field, kind }) => {
    const value = sections[section]?.[field];
    return {
      setting: path,
      value: value === undefined ? "not set" : kind.print(value),
      origin: origins.get(path) ?? "default",
    };
  });
}

/** Those settings that are not as they would be without a file and an environment. */
export function describeChosen(described: Described): readonly DescribedSetting[] {
  return describeConfig(described).filter(({ origin }) => origin !== "default" && !origin.startsWith("as "));
}

/** The effect of the backend of a part of the state on a restart and on other replicas. */
export interface StateExplanation {
  readonly backend: Backend;
  /** A sentence or two. */
  readonly text: string;
}

type Backend = Config["state"]["backend"];

/** Explains the chosen backends, one entry each. */
export function explainState({ config, origins }: Described): readonly StateExplanation[] {
  const { state, locks } = config;
  const explain = (setting: string, backend: Backend, parts: string, losses: string): StateExplanation => ({
    backend,
    text: `${setting} is ${backend} (${origins.get(setting) ?? "default"}): ${parts} ${describeBackend(backend, losses)}`,
  });
  const holders = "the holders of locks";
  const progress = "the completed claims and the position of each poller";
  if (locks.backend === state.backend) {
    return [explain("state.backend", state.backend, "locks, claims and watermarks", `${holders}, ${progress}`)];
  }
  return [
    explain("state.backend", state.backend, "claims and watermarks", progress),
    explain("locks.backend", locks.backend, "locks", holders),
  ];
}

function describeBackend(backend: Backend, losses: string): string {
  switch (backend) {
    case "memory":
      return `are kept in this process only. A restart loses ${losses}; other replicas do not share them.`;
    case "redis":
      return "are kept in Redis. They survive a restart and are shared by all replicas, as long as Redis keeps its data.";
    case "kubernetes":
      return "are kept in the Kubernetes API server. They survive a restart and are shared by all replicas.";
  }
}
