import { dirname, isAbsolute, join } from "node:path";
import { readYaml, type WrittenValue, type YamlFile, type YamlReading } from "./read-yaml.ts";
import { missingRequirements, unreadFiles } from "./requirements.ts";
import { type Config, type NamedSetting, settings } from "./schema.ts";

export interface ConfigSources {
  /** The configuration file, already read from disk. */
  readonly yaml?: YamlFile | undefined;
  /** The policy file, already read from disk: the only place for settings of the policy, if there is one. */
  readonly policy?: YamlFile | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where a value came from: `default`, `as state.backend`, `file interlock.yaml:12` or `env REDIS_URL`. */
export type Origin = "default" | `as ${string}` | WrittenValue["origin"];

/** A configuration to start with, and where each of its values came from, by path (`locks.ttl`). */
export interface LoadedConfig {
  readonly kind: "loaded";
  readonly config: Config;
  readonly origins: ReadonlyMap<string, Origin>;
  /** Sentences for operators, without secrets. */
  readonly warnings: readonly string[];
}

/** All problems of the settings. */
export interface InvalidConfig {
  readonly kind: "invalid";
  /** Sentences for operators, without secrets: where, which setting, what is wrong, what to write instead. */
  readonly problems: readonly string[];
}

/**
 * Defaults, overridden by the file, overridden by the environment. Reports all problems of all sources at once. With a policy
 * file, that alone sets the policy: stages that read the same one cannot differ.
 */
export function loadConfig({ yaml, policy, env }: ConfigSources): LoadedConfig | InvalidConfig {
  const main: YamlReading = yaml ? readYaml(yaml) : nothingWritten;
  const shared: YamlReading = policy ? readYaml(policy) : nothingWritten;
  const elsewhere = policy ? findMisplaced({ main, shared, path: policy.path }) : [];
  const file = {
    problems: [...main.problems, ...shared.problems, ...elsewhere],
    readable: main.readable && shared.readable,
  };
  const written = [...(yaml ? main.written.map((one) => relativeTo(yaml, one)) : []), ...shared.written];
  const { chosen, wrong, unreadable } = choose([...written, ...readEnvironment(env)]);

  // A setting that seems to be missing may be in the part that could not be read.
  const redisPaths = ["state.backend", "locks.backend", "redis.url", "redis.host", "azure.federatedTokenFile"];
  const canCheckRedis = file.readable && !redisPaths.some((path) => unreadable.has(path));
  const redis = canCheckRedis ? checkRedis(chosen) : undefined;

  const canCheckObjects =
    file.readable && !["state.backend", "locks.backend", ...objectPaths].some((path) => unreadable.has(path));
  const objects = canCheckObjects ? checkObjects(chosen) : { problems: [], warnings: [] };

  const missing = file.readable ? missingRequirements(chosen, unreadable) : [];
  const problems = [...file.problems, ...wrong, ...objects.problems, ...missing];
  if (redis?.problem) problems.push(redis.problem);
  if (problems.length > 0) return { kind: "invalid", problems };

  const warnings = [...chosen].flatMap(([path, { origin, doubt }]) => (doubt ? [`${origin}: ${path} ${doubt}.`] : []));
  if (redis?.warning) warnings.push(redis.warning);
  warnings.push(...objects.warnings, ...unreadFiles(chosen));
  if (!policy && chosen.get("objects.server")?.value !== "embedded") warnings.push(...unsharedPolicy(main));
  const origins = new Map([...chosen].map(([path, { origin }]) => [path, origin]));
  return { kind: "loaded", config: assemble(chosen), origins, warnings };
}

const nothingWritten: YamlReading = { written: [], problems: [], readable: true };

/** Settings in the wrong one of the two files. */
function findMisplaced({
  main,
  shared,
  path,
}: Readonly<Record<"main" | "shared", YamlReading>> & { readonly path: string }) {
  const policyElsewhere = main.written.filter(({ setting }) => setting.isPolicy);
  const others = shared.written.filter(({ setting }) => !setting.isPolicy);
  return [
    ...policyElsewhere.map(({ setting, origin }) => `${origin}: ${setting.path} belongs in the policy file ${path}.`),
    ...others.map(
      ({ setting, origin }) =>
        `${origin}: ${setting.path} is not a setting of the policy: write it into the file of the stage.`,
    ),
  ];
}

/** Settings of the policy that only one of several processes may have: the stages would decide differently. */
function unsharedPolicy({ written }: YamlReading): readonly string[] {
  return written
    .filter(({ setting }) => setting.isPolicy)
    .map(({ setting, origin }) => {
      const what = `${origin}: ${setting.path} holds for this process alone, but orchestrator and executor have to agree`;
      return `${what}: write it into one file, and name that to both with INTERLOCK_POLICY.`;
    });
}

/** A path in a file is relative to that file, so that it means the same wherever Interlock is started. */
function relativeTo({ path }: YamlFile, written: WrittenValue): WrittenValue {
  const text = written.text.trim();
  if (!written.setting.kind.isPath || text === "" || isAbsolute(text)) return written;
  return { ...written, text: join(dirname(path), text) };
}

function readEnvironment(env: ConfigSources["env"]): WrittenValue[] {
  return settings.flatMap((setting) =>
    setting.variables.flatMap((name) => {
      // An empty variable counts as absent: manifests and compose files have no other way to unset one.
      const text = env[name]?.trim();
      return text ? [{ setting, text, origin: `env ${name}` as const }] : [];
    }),
  );
}

interface Choice {
  readonly value: unknown;
  readonly origin: Origin;
  readonly doubt?: string | undefined;
}

type Choices = ReadonlyMap<string, Choice>;

/** The value of each setting. The last one written wins, but those it hides are checked too. */
function choose(written: readonly WrittenValue[]) {
  const chosen = new Map<string, Choice>();
  const wrong: string[] = [];
  const unreadable = new Set<string>();

  for (const setting of settings) {
    chosen.set(setting.path, defaultChoice(setting, chosen));
    for (const { text, origin } of written.filter((one) => one.setting === setting)) {
      const reading = setting.kind.read(text.trim());
      if (reading.kind === "value") {
        chosen.set(setting.path, { value: reading.value, doubt: reading.doubt, origin });
      } else {
        wrong.push(`${origin}: ${setting.path} ${reading.wrong}. Write ${reading.instead}.`);
        unreadable.add(setting.path);
      }
    }
  }
  return { chosen, wrong, unreadable };
}

function defaultChoice({ path, kind, default: text, sameAs }: NamedSetting, chosen: Choices): Choice {
  if (sameAs) return { value: chosen.get(sameAs)?.value, origin: `as ${sameAs}` };
  if (text === undefined) return { value: undefined, origin: "default" };

  const reading = kind.read(text);
  if (reading.kind === "wrong") throw new TypeError(`the default of ${path} ${reading.wrong}`);
  return { value: reading.value, origin: "default" };
}

function checkRedis(chosen: Choices): { readonly problem?: string; readonly warning?: string } {
  const user = ["state.backend", "locks.backend"].find((path) => chosen.get(path)?.value === "redis");
  const url = chosen.get("redis.url");
  const host = chosen.get("redis.host");

  if (user && !url?.value && !host?.value) {
    const what = `${chosen.get(user)?.origin}: ${user} is redis, but redis.url is not set.`;
    return { problem: `${what} Set REDIS_URL to redis://host:6379, or write "url:" below "redis:" in the file.` };
  }
  const unused = [["redis.url", url] as const, ["redis.host", host] as const].find(([, choice]) => choice?.value);
  if (!user && unused) {
    const what = `${unused[1]?.origin}: ${unused[0]} is not used, because no backend is redis.`;
    return { warning: `${what} Set STATE_BACKEND to redis to use it, or remove it.` };
  }
  return user && host?.value ? checkIdentity(chosen) : {};
}

function checkIdentity(chosen: Choices): { readonly problem?: string; readonly warning?: string } {
  const token = chosen.get("azure.federatedTokenFile");
  const missing = ["azure.tenantId", "azure.clientId"].find((path) => token?.value && !chosen.get(path)?.value);
  if (missing) {
    const what = `${token?.origin}: azure.federatedTokenFile is set, but ${missing} is not.`;
    return { problem: `${what} A token is exchanged for one identity of one tenant: set both.` };
  }
  const url = chosen.get("redis.url");
  if (!url?.value) return {};
  return {
    warning: `${url.origin}: redis.url is not used, because redis.host (${chosen.get("redis.host")?.origin}) wins.`,
  };
}

const objectPaths = ["objects.server", "objects.kubeconfig", "objects.context"];

/** Checks the settings that a server shared with other processes requires. */
function checkObjects(chosen: Choices): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const server = chosen.get("objects.server");
  const problems: string[] = [];
  if (server?.value === "kubeconfig" && !chosen.get("objects.kubeconfig")?.value) {
    const what = `${server.origin}: objects.server is kubeconfig, but objects.kubeconfig is not set.`;
    problems.push(`${what} Set INTERLOCK_KUBECONFIG to the file, or write "kubeconfig:" below "objects:" in the file.`);
  }
  for (const path of ["state.backend", "locks.backend"]) {
    const { value, origin } = chosen.get(path) ?? {};
    // A value that follows another setting is corrected there.
    if (server?.value === "embedded" || value !== "memory" || origin?.startsWith("as ")) continue;
    const what = `${origin}: ${path} is memory, but objects.server is ${server?.value} (${server?.origin})`;
    problems.push(`${what}: other processes on that server would not share it. Write kubernetes or redis.`);
  }
  const unused = objectPaths.slice(1).filter((path) => chosen.get(path)?.value && server?.value === "in-cluster");
  const warnings = unused.map((path) => {
    return `${chosen.get(path)?.origin}: ${path} is not used, because objects.server is ${server?.value}.`;
  });
  return { problems, warnings };
}

function assemble(chosen: Choices): Config {
  const config: Record<string, Record<string, unknown>> = {};
  for (const { section, field, path } of settings) {
    config[section] = { ...config[section], [field]: chosen.get(path)?.value };
  }
  // `Config` is derived from the same schema that `settings` lists.
  return config as Config;
}
