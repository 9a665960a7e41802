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

/** What the chosen backends mean for a restart and for other replicas, in sentences to log at start-up. */
export function explainState({ config, origins }: Described): readonly string[] {
  const { state, locks } = config;
  const chose = (path: string, backend: Backend) => `${path} is ${backend} (${origins.get(path) ?? "default"})`;
  const progress = "the completed claims and the position of each poller";
  const change = "A change of backend takes effect at the next start and migrates nothing: the new one begins empty.";

  if (locks.backend === state.backend) {
    const all = describeBackend(state.backend, `the holders of locks, ${progress}`);
    return [`${chose("state.backend", state.backend)}: locks, claims and watermarks ${all}`, change];
  }
  return [
    `${chose("state.backend", state.backend)}: claims and watermarks ${describeBackend(state.backend, progress)}`,
    `${chose("locks.backend", locks.backend)}: locks ${describeBackend(locks.backend, "the holders of locks")}`,
    change,
  ];
}

type Backend = Config["state"]["backend"];

function describeBackend(backend: Backend, losses: string): string {
  switch (backend) {
    case "memory":
      return `are kept in this process only. A restart loses ${losses}; other replicas do not see them.`;
    case "redis":
      return "are kept in Redis. They survive a restart and are shared by all replicas, as long as Redis keeps its data.";
    case "kubernetes":
      return "are kept in the Kubernetes API server. They survive a restart and are shared by all replicas.";
  }
}
