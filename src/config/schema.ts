import { agent } from "./sections/agent.ts";
import { webConsole } from "./sections/console.ts";
import { claims, locks, watermarks } from "./sections/coordination.ts";
import { execution } from "./sections/execution.ts";
import { gateway } from "./sections/gateway.ts";
import { gitlab } from "./sections/gitlab.ts";
import { approval, incidents, ineffective, verification } from "./sections/incidents.ts";
import { jira } from "./sections/jira.ts";
import { ledger } from "./sections/ledger.ts";
import { notify } from "./sections/notify.ts";
import { objects, state } from "./sections/objects.ts";
import { azure, redis } from "./sections/redis.ts";
import { kinds, rules } from "./sections/rules.ts";
import { sources } from "./sections/sources.ts";
import { heartbeat, log, metrics } from "./sections/telemetry.ts";
import type { Setting } from "./setting.ts";

/**
 * Every setting, once, in the order of the documentation. The names are those of `Config`; in a file durations carry
 * their unit in the value instead, so `locks.ttlMs` in code is written `ttl: 30s` below `locks:`.
 */
const schema = {
  state,
  objects,
  kinds,
  redis,
  azure,
  locks,
  claims,
  watermarks,
  execution,
  gateway,
  sources,
  rules,
  incidents,
  approval,
  verification,
  ineffective,
  ledger,
  metrics,
  heartbeat,
  notify,
  console: webConsole,
  gitlab,
  jira,
  agent,
  log,
};

type Schema = typeof schema;

/** The settings of a process, checked. Durations are in milliseconds. */
export type Config = {
  readonly [S in keyof Schema]: {
    readonly [F in keyof Schema[S]]: Schema[S][F] extends Setting<infer T> ? T : never;
  };
};

/** A setting with its names: `path` as in a file (`locks.ttl`), `section` and `field` as in `Config`. */
export interface NamedSetting extends Setting<unknown> {
  readonly path: string;
  readonly section: string;
  readonly field: string;
  /** The environment variables that set it; of two that are set, the last one wins. */
  readonly variables: readonly string[];
}

/** Every setting, in the order of the documentation. One that is `sameAs` another comes after it. */
export const settings: readonly NamedSetting[] = Object.entries(schema).flatMap(([section, fields]) =>
  Object.entries<Setting<unknown>>(fields).map(([field, setting]) => {
    const path = setting.path ?? `${section}.${field.replace(/Ms$/, "")}`;
    return { ...setting, path, section, field, variables: variables(path, setting) };
  }),
);

/**
 * A variable of its own, if it has one, and `INTERLOCK_LOCKS_TTL` for `locks.ttl`. A structure fits no variable, and settings of
 * the policy come from files alone, so that stages cannot differ in them.
 */
function variables(path: string, { env, kind, isPolicy }: Setting<unknown>): readonly string[] {
  const derived = `INTERLOCK_${path.replace(/[A-Z]/g, "_$&").replace(/[.-]/g, "_").toUpperCase()}`;
  const isDerivable = !kind.isStructure && !isPolicy && !path.includes("<");
  return [...(env ? [env] : []), ...(isDerivable ? [derived] : [])];
}

/** In the path of a setting: any name, such as that of a sender in `sources.<name>.map`. */
const anyName = "<name>";

/** The setting with this path; `sources.newrelic.map` is one of `sources.<name>.map`. */
export function findSetting(path: string): NamedSetting | undefined {
  return settings.find((known) => known.path === path) ?? settings.find((known) => fits(known.path, path));
}

/** The settings below `section`, such as those below `sources` or `sources.newrelic`. */
export function settingsBelow(section: string): readonly NamedSetting[] {
  const depth = section.split(".").length;
  return settings.filter(({ path }) => {
    const parts = path.split(".");
    return parts.length > depth && fits(parts.slice(0, depth).join("."), section);
  });
}

function fits(pattern: string, path: string): boolean {
  const [parts, names] = [pattern.split("."), path.split(".")];
  return (
    parts.length === names.length &&
    parts.every((part, i) => part === names[i] || (part === anyName && /^[a-z][a-z0-9-]{0,62}$/.test(names[i] ?? "")))
  );
}

/** The names of the sections of a file, in the order of the documentation. */
export const sections: readonly string[] = [...new Set(settings.map(({ path }) => sectionOf(path)))];

/** The first part of a path. */
export function sectionOf(path: string): string {
  return path.slice(0, path.indexOf("."));
}
