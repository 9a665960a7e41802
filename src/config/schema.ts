import {
  address,
  count,
  directory,
  duration,
  durations,
  file,
  fingerprintFields,
  httpUrl,
  type Kind,
  namespace,
  oneOf,
  postgresUrl,
  redisUrl,
  secret,
  senderTokens,
  share,
  someOf,
  text,
  words,
  yesOrNo,
} from "./kinds.ts";
import { networks, noticeRoutes, secretUrl } from "./notice-kinds.ts";
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
  /** How it is called in a file, where that is not section and field: `execution.backoff.base`. */
  readonly path?: string;
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
      default: "kubernetes",
      env: "STATE_BACKEND",
      about: "Where claims and watermarks live, and locks unless `locks.backend` says otherwise.",
    }),
  },
  objects: {
    server: setting({
      kind: oneOf("embedded", "kubeconfig", "in-cluster"),
      default: "embedded",
      env: "OBJECTS_SERVER",
      about:
        "The API server that keeps all objects: our own in this process, the one of `objects.kubeconfig`, or that of the cluster this pod runs in.",
    }),
    kubeconfig: optional<string>({
      kind: file(),
      env: "INTERLOCK_KUBECONFIG",
      about: "The kubeconfig file to use when `objects.server` is `kubeconfig`.",
    }),
    context: optional<string>({
      kind: text("the name of a context"),
      env: "INTERLOCK_KUBE_CONTEXT",
      about: "The context of that file, if not its current one.",
    }),
  },
  redis: {
    url: optional<Secret>({
      kind: redisUrl(),
      env: "REDIS_URL",
      about:
        "The Redis to use when a backend is `redis`: one server, or the primary that Sentinels or the nodes of a Cluster tell of.",
    }),
    sentinelPassword: optional<Secret>({
      kind: secret("the password of the Sentinels"),
      env: "REDIS_SENTINEL_PASSWORD",
      about: "What Sentinels ask for, if they do; the password in the URL is that of the servers.",
    }),
    caFile: optional<string>({
      kind: file(),
      env: "REDIS_CA_FILE",
      about: "Certificates to trust with `rediss://`, in PEM, instead of those of the system.",
    }),
    host: optional<string>({
      kind: text("a host name"),
      env: "REDIS_HOST",
      about: "A Redis of Azure, reached with TLS and an identity of Microsoft Entra ID. It wins over `redis.url`.",
    }),
    port: setting({
      kind: count({ atMost: 65_535 }),
      default: "6380",
      env: "REDIS_PORT",
      about: "The port of `redis.host`.",
    }),
  },
  azure: {
    clientId: optional<string>({
      kind: text("the client id of an identity"),
      env: "AZURE_CLIENT_ID",
      about: "The identity to use for `redis.host`; unless set, the one of the machine.",
    }),
    tenantId: optional<string>({
      kind: text("the id of a tenant"),
      env: "AZURE_TENANT_ID",
      about: "The tenant of a workload identity. Azure sets this and the next two in its pods.",
    }),
    federatedTokenFile: optional<string>({
      kind: file(),
      env: "AZURE_FEDERATED_TOKEN_FILE",
      about: "The cluster's token, which is exchanged for one of the tenant.",
    }),
    authorityHost: optional<string>({
      kind: httpUrl(),
      env: "AZURE_AUTHORITY_HOST",
      about: "Where it is exchanged, if not at Microsoft's public address.",
    }),
    identityEndpoint: optional<string>({
      kind: httpUrl(),
      env: "IDENTITY_ENDPOINT",
      about: "Where a managed identity is asked for. Azure sets this and the next in its container apps.",
    }),
    identityHeader: optional<Secret>({
      kind: secret("what the endpoint wants to hear"),
      env: "IDENTITY_HEADER",
      about: "What that endpoint wants to hear.",
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
  execution: {
    engine: setting({
      kind: oneOf("tekton", "job", "local"),
      default: "local",
      about: "What runs a workflow that does not say so itself.",
    }),
    engines: setting({
      kind: someOf("tekton", "job", "local"),
      default: "local",
      about: "The engines that are set up here.",
    }),
    namespace: setting({
      kind: namespace(),
      default: "kubernaut-workflows",
      about: "The namespace of runs and target records.",
    }),
    serviceAccount: optional<string>({
      kind: namespace(),
      about: "The service account of runs whose workflow names none.",
    }),
    workflowsDir: setting({
      kind: directory(),
      default: "workflows",
      env: "WORKFLOWS_DIR",
      about: "The folder with the catalog's workflows, one folder each.",
    }),
    localDir: optional<string>({
      kind: directory(),
      about:
        "Where the local engine keeps its runs. Replicas that share it take turns; in the data directory unless set.",
    }),
    runTtlMs: setting({
      kind: duration({ atLeast: "1m" }),
      default: "1h",
      about: "How long the run of a failed execution is kept, for people to look at. Never shortens a cooldown.",
    }),
    timeoutMs: setting({
      kind: duration({ atLeast: "1s" }),
      default: "30m",
      about: "How long a run may take, unless its workflow says otherwise.",
    }),
    cooldownMs: setting({
      kind: duration(),
      default: "5m",
      path: "resource_locking.cooldown_period",
      about: "How long a workflow waits after a success on the same target, unless it says otherwise itself.",
    }),
    backoffBaseMs: setting({
      kind: duration(),
      default: "1m",
      path: "execution.backoff.base",
      about: "The wait after the first failure before acting. It doubles with each further one.",
    }),
    backoffMaxMs: setting({
      kind: duration(),
      default: "10m",
      path: "execution.backoff.max",
      about: "The longest wait after failures before acting.",
    }),
    backoffMaxExponent: setting({
      kind: count(),
      default: "4",
      path: "execution.backoff.maxExponent",
      about: "How often the wait doubles at most.",
    }),
    backoffJitter: setting({
      kind: share(),
      default: "0",
      path: "execution.backoff.jitter",
      about: "Share of the wait that chance may add or take away.",
    }),
    maxConsecutiveFailures: setting({
      kind: count({ atMost: 20 }),
      default: "5",
      about: "After so many failures in a row before acting, a person has to look.",
    }),
    observe: setting({
      kind: yesOrNo(),
      default: "false",
      about: "Decide and record everything, start nothing.",
    }),
    concurrency: setting({
      kind: count(),
      default: "64",
      about: "How many executions are worked on at a time.",
    }),
  },
  gateway: {
    listen: setting({
      kind: address(),
      default: "127.0.0.1:8080",
      env: "GATEWAY_LISTEN",
      about: "Where the gateway takes signals.",
    }),
    tokens: optional<Secret>({
      kind: senderTokens(),
      env: "GATEWAY_TOKENS",
      about: "Who may post signals. Without this and `gateway.tokenFile` a token is made once, in the data directory.",
    }),
    tokenFile: optional<string>({
      kind: directory(),
      env: "GATEWAY_TOKEN_FILE",
      about: "A file with one sender per line, read again every few seconds so that tokens can be replaced.",
    }),
    namespace: setting({
      kind: namespace(),
      default: "kubernaut-system",
      about: "The namespace of incidents. The same for all gateways.",
    }),
    scope: setting({
      kind: oneOf("labels", "all"),
      default: "labels",
      env: "GATEWAY_SCOPE",
      about:
        "What incidents are opened for: `labels` is what has the label `kubernaut.ai/managed=true`, itself or by its namespace. `interlock up` has an API server of its own, without such objects: there it is `all` unless set.",
    }),
    fingerprint: setting({
      kind: fingerprintFields(),
      default: "source, name, target",
      about: "What makes two signals the same incident. The same for all gateways; a change makes new incidents.",
    }),
    durability: setting({
      kind: oneOf("journal", "status"),
      default: "journal",
      about:
        "Where a count is durable before its sender is told: in the data directory, or, for a pod without a volume, in the incident's status.",
    }),
    flushIntervalMs: setting({
      kind: duration({ atLeast: "10ms" }),
      default: "1s",
      env: "GATEWAY_FLUSH_INTERVAL",
      about: "How long counts are collected in the journal before they are written to the incident's status.",
    }),
    lockWaitMs: setting({
      kind: duration(),
      default: "2s",
      about: "The longest wait for the lock of a fingerprint; after it the gateway goes on without.",
    }),
    lookupTimeoutMs: setting({
      kind: duration({ atLeast: "10ms" }),
      default: "2s",
      about: "The longest wait for one read of the object that a signal is about.",
    }),
    maxBodyBytes: setting({
      kind: count({ atMost: 67_108_864 }),
      default: "1048576",
      about: "The largest request, in bytes.",
    }),
    signalsPerSecond: setting({
      kind: count(),
      default: "10000",
      about: "How many signals one sender may post in the long run; ten times as many at once.",
    }),
  },
  sources: {
    kubernetes: setting({
      kind: yesOrNo(),
      default: "false",
      env: "SOURCES_KUBERNETES",
      about: "Whether the gateway also follows Events and the conditions of nodes. One gateway at a time does.",
    }),
    eventReasons: setting({
      kind: words(),
      default:
        "BackOff, Evicted, EvictionThresholdMet, FailedMount, FailedScheduling, FreeDiskSpaceFailed, OOMKilling, SystemOOM, Unhealthy",
      about: "The reasons of Events of the type Warning that are signals.",
    }),
  },
  rules: {
    dir: setting({
      kind: directory(),
      default: "rules",
      env: "RULES_DIR",
      about:
        "The folder with the rules, in YAML files that are read in the order of their names, and again when they change.",
    }),
  },
  incidents: {
    staleAfterMs: setting({
      kind: duration({ atLeast: "1s" }),
      default: "15m",
      about: "An incident that waits is withdrawn when it was not reported again for so long.",
    }),
    staleAfterBySource: setting({
      kind: durations(),
      default: "alertmanager=5h, kubernetes-nodes=24h",
      about: "The same for sources that repeat themselves more rarely, or say themselves when it is over.",
    }),
    executionTimeoutMs: setting({
      kind: duration({ atLeast: "1s" }),
      default: "1h",
      about:
        "How long an execution may take for an incident, from its making. Then it is cancelled. Never shorter than its workflow's own timeout.",
    }),
    retentionMs: setting({
      kind: duration({ atLeast: "1m" }),
      default: "24h",
      about:
        "How long closed incidents are kept, with their executions. The newest of each fingerprint stays, and so does what a check still needs.",
    }),
  },
  approval: {
    expiresAfterMs: setting({
      kind: duration({ atLeast: "1s" }),
      default: "1h",
      about: "How long an approval is waited for, unless the workflow says otherwise. No answer is a no.",
    }),
  },
  verification: {
    graceMs: setting({
      kind: duration(),
      default: "2m",
      about: "Signals that come so soon after a run do not mean that it did not help.",
    }),
    windowMs: setting({
      kind: duration(),
      default: "15m",
      about: "How long after a run an incident is watched before it is closed.",
    }),
  },
  ineffective: {
    times: setting({
      kind: count({ atMost: 20 }),
      default: "3",
      about:
        "A fix that succeeded so often, while the incident kept coming back, is blocked until a person has looked.",
    }),
    withinMs: setting({
      kind: duration({ atLeast: "1s" }),
      default: "4h",
      about: "The time within which that counts.",
    }),
  },
  ledger: {
    dir: optional<string>({
      kind: directory(),
      env: "LEDGER_DIR",
      about: "Where the ledger's journal is written; in the data directory unless set.",
    }),
    url: optional<Secret>({
      kind: postgresUrl(),
      env: "LEDGER_URL",
      about: "The PostgreSQL database that the journal goes to; without it, a file `ledger.sqlite` beside the journal.",
    }),
    maxJournalBytes: setting({
      kind: count(),
      default: "1073741824",
      env: "LEDGER_MAX_JOURNAL_BYTES",
      about:
        "The largest journal, in bytes, while the database is away. When it is reached, nothing is done that cannot be recorded.",
    }),
    volume: setting({
      kind: oneOf("persistent", "ephemeral"),
      default: "persistent",
      env: "LEDGER_VOLUME",
      about:
        "What the journal is on: `ephemeral` if it vanishes with its pod or node, as an emptyDir does. Then start-up says what may be lost.",
    }),
  },
  metrics: {
    listen: optional<{ readonly host: string; readonly port: number }>({
      kind: address(),
      env: "METRICS_LISTEN",
      about:
        "Where a process without HTTP of its own, such as `interlock executor`, serves /metrics, /healthz and /readyz; nowhere unless set. The gateway serves them where it takes signals.",
    }),
  },
  notify: {
    console: setting({
      kind: yesOrNo(),
      default: "true",
      env: "NOTIFY_CONSOLE",
      about: "Whether notices are printed by the process that delivers them.",
    }),
    file: optional<string>({
      kind: file(),
      env: "NOTIFY_FILE",
      about: "A file that notices are appended to, one line of JSON each.",
    }),
    webhookUrl: optional<Secret>({
      kind: secretUrl(),
      env: "NOTIFY_WEBHOOK_URL",
      about: "Where notices are posted to as JSON.",
    }),
    webhookSecret: optional<Secret>({
      kind: secret("a text"),
      env: "NOTIFY_WEBHOOK_SECRET",
      about: "Signs what is posted there (HMAC-SHA256).",
    }),
    webhookSecretFile: optional<string>({
      kind: file(),
      env: "NOTIFY_WEBHOOK_SECRET_FILE",
      about: "A file with that secret, instead.",
    }),
    slackUrl: optional<Secret>({
      kind: secretUrl(),
      env: "NOTIFY_SLACK_URL",
      about: "The incoming webhook of a Slack channel.",
    }),
    slackUrlFile: optional<string>({
      kind: file(),
      env: "NOTIFY_SLACK_URL_FILE",
      about: "A file with that URL, instead.",
    }),
    routes: setting({
      kind: noticeRoutes(),
      default: "any -> all",
      env: "NOTIFY_ROUTES",
      about: "Which notices go to which channels.",
    }),
    allowedNetworks: optional<readonly string[]>({
      kind: networks(),
      env: "NOTIFY_ALLOWED_NETWORKS",
      about: "Private networks that notices may be posted to. Others, and this machine, are refused.",
    }),
    digestWindowMs: setting({
      kind: duration(),
      default: "5m",
      env: "NOTIFY_DIGEST_WINDOW",
      about: "How long skips on one target are collected, to be told of together. `0s`: each by itself, at once.",
    }),
    maxAttempts: setting({
      kind: count({ atMost: 20 }),
      default: "8",
      env: "NOTIFY_MAX_ATTEMPTS",
      about: "How often a notice is tried on one channel.",
    }),
    backoffBaseMs: setting({
      kind: duration({ atLeast: "10ms" }),
      default: "5s",
      path: "notify.backoff.base",
      env: "NOTIFY_BACKOFF_BASE",
      about: "The wait before the second try. It doubles with each further one.",
    }),
    backoffMaxMs: setting({
      kind: duration({ atLeast: "10ms" }),
      default: "10m",
      path: "notify.backoff.max",
      env: "NOTIFY_BACKOFF_MAX",
      about: "The longest wait between two tries.",
    }),
    timeoutMs: setting({
      kind: duration({ atLeast: "10ms" }),
      default: "10s",
      env: "NOTIFY_TIMEOUT",
      about: "How long one try on a channel may take.",
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
    return { ...setting, path: setting.path ?? `${section}.${field.replace(/Ms$/, "")}`, section, field };
  }),
);

/** The names of the sections of a file, in the order of the documentation. */
export const sections: readonly string[] = [...new Set(settings.map(({ path }) => sectionOf(path)))];

/** The first part of a path. */
export function sectionOf(path: string): string {
  return path.slice(0, path.indexOf("."));
}

function setting<T>(setting: Setting<T> & ({ readonly default: string } | { readonly sameAs: string })): Setting<T> {
  return setting;
}

/** A setting that may stay unset. */
function optional<T>(setting: Setting<T>): Setting<T | undefined> {
  return setting;
}
