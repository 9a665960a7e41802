import { count, duration, type Kind, namespace, oneOf, redisUrl } from "./kinds.ts";
import type { Secret } from "./secret.ts";

/** One setting: how it is written, what it is when nobody writes it, and what it means. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** As a user would write it. Absent: not set. */
  readonly default?: string;
  /** Path of the setting whose value this one takes when nobody writes it. */
  readonly sameAs?: string;
  /** Environment variable that overrides the file. */
  readonly env?: string;
  /** One plain sentence for the documentation. */
  readonly about: string;
}

const backend = oneOf("memory", "redis", "kubernetes");

/**
 * Every setting, once. The names are those of `Config`; in a file durations carry their unit in the value instead, so
 * `locks.ttlMs` in code is written `ttl: 30s` below `locks:`.
 */
const schema = {
  state: {
    backend: setting({
      kind: backend,
      default: "memory",
      env: "STATE_BACKEND",
      about: "Where claims and watermarks live, and locks unless `locks.backend` says otherwise.",
    }),
  },
  redis: {
    url: optional<Secret>({
      kind: redisUrl(),
      env: "REDIS_URL",
      about: "The Redis server to use when a backend is `redis`.",
    }),
  },
  locks: {
    backend: setting({
      kind: backend,
      sameAs: "state.backend",
      env: "LOCKS_BACKEND",
      about: "Where locks live, if not with the rest of the state.",
    }),
    ttlMs: setting({
      kind: duration({
        atLeast: "500ms",
        usual: {
          from: "10s",
          to: "60s",
          because: "shorter loses locks to short pauses, longer keeps a crashed holder's targets blocked",
        },
      }),
      default: "30s",
      about: "How long a lock outlives a holder that vanished; a live holder renews it.",
    }),
    waitMs: setting({
      kind: duration(),
      default: "30s",
      about: "The longest wait for a lock, unless the caller says otherwise.",
    }),
    namespace: setting({
      kind: namespace(),
      default: "kubernaut-system",
      about: "The namespace of the Lease objects when locks live in Kubernetes.",
    }),
  },
  claims: {
    leaseMs: setting({
      kind: duration({ atLeast: "500ms" }),
      default: "1m",
      about: "How long claimed work may take without a sign of life before somebody else may claim it.",
    }),
    doneTtlMs: setting({
      kind: duration({ atLeast: "1s" }),
      default: "1h",
      about: "How long finished work is remembered, and so not done again.",
    }),
    reviewDoneTtlMs: setting({
      kind: duration({ atLeast: "1s" }),
      default: "24h",
      about: "The same for reviews and notes, which sources report again for longer.",
    }),
    memoryEntries: setting({
      kind: count(),
      default: "10000",
      about: "How many claims are remembered when they live in memory.",
    }),
  },
  watermarks: {
    overlapMs: setting({
      kind: duration(),
      default: "1m",
      about: "How far behind the server's clock a watermark stays, so that items which show up late are still seen.",
    }),
  },
  log: {
    level: setting({
      kind: oneOf("debug", "info", "warn", "error"),
      default: "info",
      env: "LOG_LEVEL",
      about: "The least important events that are logged.",
    }),
    format: setting({
      kind: oneOf("json", "text"),
      default: "json",
      about: "`json` for machines, one object per line; `text` for people at a terminal.",
    }),
  },
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
}

/** Every setting, in the order of the documentation. One that is `sameAs` another comes after it. */
export const settings: readonly NamedSetting[] = Object.entries(schema).flatMap(([section, fields]) =>
  Object.entries<Setting<unknown>>(fields).map(([field, setting]) => {
    return { ...setting, path: `${section}.${field.replace(/Ms$/, "")}`, section, field };
  }),
);

/** The names of the sections, in the order of the documentation. */
export const sections: readonly string[] = Object.keys(schema);

function setting<T>(setting: Setting<T> & ({ readonly default: string } | { readonly sameAs: string })): Setting<T> {
  return setting;
}

/** A setting that may stay unset. */
function optional<T>(setting: Setting<T>): Setting<T | undefined> {
  return setting;
}
