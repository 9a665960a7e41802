import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeConfig, explainState } from "./describe.ts";
import { type LoadedConfig, loadConfig } from "./load.ts";
import { sections, settings } from "./schema.ts";

describe("a path", () => {
  const text = "rules:\n  dir: rules\nexecution:\n  workflowsDir: /workflows\n";
  const loadedFrom = (path: string) => (loadConfig({ yaml: { path, text }, env: {} }) as LoadedConfig).config;

  it.each([
    ["/etc/interlock/interlock.yaml", "/etc/interlock/rules"],
    ["settings/interlock.yaml", "settings/rules"],
    ["interlock.yaml", "rules"],
  ])("in the settings file %s is relative to that file", (path, dir) => {
    expect(loadedFrom(path).rules.dir).toBe(dir);
  });

  it("in a settings file is kept as it is when it is absolute", () => {
    expect(loadedFrom("/etc/interlock.yaml").execution.workflowsDir).toBe("/workflows");
  });

  it("in the environment or by default is relative to the working directory", () => {
    const yaml = { path: "/etc/interlock.yaml", text: "" };
    const { config } = loadConfig({ yaml, env: { WORKFLOWS_DIR: "mine" } }) as LoadedConfig;

    expect(config.execution.workflowsDir).toBe("mine");
    expect(config.rules.dir).toBe("rules");
  });
});

describe("a configuration", () => {
  it("has a default for everything but the Redis server", () => {
    const { config, warnings } = loaded();

    expect(config).toMatchObject({
      state: { backend: "kubernetes" },
      objects: { server: "embedded", kubeconfig: undefined, context: undefined },
      redis: { url: undefined },
      locks: { backend: "kubernetes", ttlMs: 30_000, waitMs: 30_000, namespace: "kubernaut-system" },
      claims: { leaseMs: 60_000, doneTtlMs: 3_600_000, reviewDoneTtlMs: 86_400_000, memoryEntries: 10_000 },
      watermarks: { overlapMs: 60_000 },
      execution: {
        engine: "local",
        engines: ["local"],
        namespace: "kubernaut-workflows",
        serviceAccount: undefined,
        workflowsDir: "workflows",
        localDir: undefined,
        runTtlMs: 3_600_000,
        timeoutMs: 1_800_000,
        cooldownMs: 300_000,
        backoffBaseMs: 60_000,
        backoffMaxMs: 600_000,
        backoffMaxExponent: 4,
        backoffJitter: 0,
        maxConsecutiveFailures: 5,
        observe: false,
        concurrency: 64,
      },
      gateway: {
        listen: { host: "127.0.0.1", port: 8080 },
        tokens: undefined,
        tokenFile: undefined,
        namespace: "kubernaut-system",
        scope: "labels",
        fingerprint: ["source", "name", "target"],
        durability: "journal",
        flushIntervalMs: 1_000,
        lockWaitMs: 2_000,
        lookupTimeoutMs: 2_000,
        maxSignalsPerRequest: 5_000,
        maxOpenIncidentsPerSender: 5_000,
        maxOpenIncidents: 10_000,
        maxBodyBytes: 1_048_576,
        signalsPerSecond: 10_000,
      },
      sources: { kubernetes: undefined, eventReasons: expect.arrayContaining(["Evicted", "OOMKilling"]) },
      ledger: { dir: undefined },
      gitlab: {
        url: undefined,
        projects: undefined,
        poll: false,
        pollIntervalMs: 30_000,
        pollFrom: "now",
        reviewDrafts: false,
        minAccessLevel: "developer",
      },
      jira: {
        projects: undefined,
        triggerStatus: "AI Ready",
        inProgressStatus: "In Progress",
        inReviewStatus: "In Review",
        pollIntervalMs: 30_000,
      },
      agent: {
        namespace: "kubernaut-system",
        concurrency: 4,
        maxAttempts: 3,
        backoffBaseMs: 30_000,
        backoffMaxMs: 600_000,
      },
      log: { level: "info", format: "json" },
    });
    expect(warnings).toEqual([]);
  });

  it("of the policy come from the policy file alone, if there is one", () => {
    const yaml = { path: "interlock.yaml", text: "log: { level: debug }\n" };
    const policy = {
      path: "policy.yaml",
      text: "resource_locking: { cooldown_period: 9m }\nineffective: { times: 4 }\n",
    };

    const reading = loadConfig({ yaml, policy, env: {} });

    expect(reading.kind === "loaded" && reading.config).toMatchObject({
      execution: { cooldownMs: 540_000 },
      ineffective: { times: 4 },
      log: { level: "debug" },
    });
    expect(reading.kind === "loaded" && reading.origins.get("ineffective.times")).toBe("file policy.yaml:2");
  });

  it("of the policy in the file of one process are in doubt if other processes use the same server", () => {
    const text = "execution: { observe: true }\nobjects: { server: in-cluster }\n";

    const shared = loadConfig({ yaml: { path: "interlock.yaml", text }, env: {} });
    const alone = loadConfig({ yaml: { path: "interlock.yaml", text: "execution: { observe: true }\n" }, env: {} });

    expect(shared.kind === "loaded" && shared.warnings).toEqual([
      "file interlock.yaml:1: execution.observe holds for this process alone, but orchestrator and executor have to agree: write it into one file, and name that to both with INTERLOCK_POLICY.",
    ]);
    expect(alone.kind === "loaded" && alone.warnings).toEqual([]);
  });

  it.each([
    [
      "execution: { observe: true }",
      "",
      "file interlock.yaml:1: execution.observe belongs in the policy file policy.yaml.",
    ],
    [
      "",
      "log: { level: debug }",
      "file policy.yaml:1: log.level is not a setting of the policy: write it into the file of the stage.",
    ],
  ])("in the wrong one of the two files are refused: %j and %j", (main, shared, problem) => {
    const reading = loadConfig({
      yaml: { path: "interlock.yaml", text: main },
      policy: { path: "policy.yaml", text: shared },
      env: {},
    });

    expect(reading).toEqual({ kind: "invalid", problems: [problem] });
  });

  it("may be written more than one section deep, and with the names of other documents", () => {
    const { config, origins } = loaded({
      file: [
        "resource_locking:",
        "  cooldown_period: 7m",
        "execution:",
        "  engines: tekton, job",
        "  observe: true",
        "  backoff:",
        "    base: 10s",
        "    jitter: 0.25",
      ],
    });

    expect(config.execution).toMatchObject({
      cooldownMs: 420_000,
      engines: ["tekton", "job"],
      observe: true,
      backoffBaseMs: 10_000,
      backoffJitter: 0.25,
    });
    expect(origins.get("execution.backoff.base")).toBe("file interlock.yaml:7");
  });

  it("prefers the environment to the file and the file to the defaults, and records the origin", () => {
    const { config, origins } = loaded({
      file: ["state:", "  backend: kubernetes", "log:", "  level: debug", "  format: text"],
      env: { LOG_LEVEL: "warn" },
    });

    expect(config.log).toEqual({ level: "warn", format: "text" });
    expect(origins.get("log.level")).toBe("env LOG_LEVEL");
    expect(origins.get("log.format")).toBe("file interlock.yaml:5");
    expect(origins.get("claims.lease")).toBe("default");
  });

  it("keeps locks with the rest of the state unless locks.backend is set", () => {
    const together = loaded({ env: { STATE_BACKEND: "memory" } });
    const apart = loaded({ env: { STATE_BACKEND: "memory", LOCKS_BACKEND: "kubernetes" } });

    expect(together.config.locks.backend).toBe("memory");
    expect(together.origins.get("locks.backend")).toBe("as state.backend");
    expect(apart.config).toMatchObject({ state: { backend: "memory" }, locks: { backend: "kubernetes" } });
  });

  it("treats an empty value as not written", () => {
    const { config } = loaded({ file: ["locks:", "log:", "  level:", "  format: ''"], env: { STATE_BACKEND: " " } });

    expect(config).toMatchObject({ state: { backend: "kubernetes" }, log: { level: "info", format: "json" } });
  });

  it("follows YAML aliases and keeps text as it was written", () => {
    const { config } = loaded({ file: ["locks:", "  ttl: &t 20s", "  wait: *t", "  namespace: 007"] });

    expect(config.locks).toMatchObject({ ttlMs: 20_000, waitMs: 20_000, namespace: "007" });
  });

  it("may come from an empty file", () => {
    expect(loaded({ file: ["# nothing yet"] }).config).toEqual(loaded().config);
  });
});

describe("objects on a server that others use too", () => {
  it.each(["kubeconfig", "in-cluster"])("refuse state in memory when they are %s", (server) => {
    const env = { OBJECTS_SERVER: server, INTERLOCK_KUBECONFIG: "/k", STATE_BACKEND: "memory" };

    expect(problems({ env })).toEqual([
      `env STATE_BACKEND: state.backend is memory, but objects.server is ${server} (env OBJECTS_SERVER): ` +
        "other processes on that server would not share it. Write kubernetes or redis.",
    ]);
  });

  it("refuse locks in memory alone as well", () => {
    const found = problems({ env: { OBJECTS_SERVER: "in-cluster", LOCKS_BACKEND: "memory" } });

    expect(found).toEqual([expect.stringContaining("env LOCKS_BACKEND: locks.backend is memory, but objects.server")]);
  });

  it("need a kubeconfig if objects.server is kubeconfig", () => {
    expect(problems({ env: { OBJECTS_SERVER: "kubeconfig" } })).toEqual([
      "env OBJECTS_SERVER: objects.server is kubeconfig, but objects.kubeconfig is not set. " +
        'Set INTERLOCK_KUBECONFIG to the file, or write "kubeconfig:" below "objects:" in the file.',
    ]);
  });

  it("cause a warning for settings without effect", () => {
    const { warnings } = loaded({
      env: { OBJECTS_SERVER: "in-cluster", INTERLOCK_KUBECONFIG: "/k", INTERLOCK_KUBE_CONTEXT: "c" },
    });

    expect(warnings).toEqual([
      "env INTERLOCK_KUBECONFIG: objects.kubeconfig is not used, because objects.server is in-cluster.",
      "env INTERLOCK_KUBE_CONTEXT: objects.context is not used, because objects.server is in-cluster.",
    ]);
  });

  it("leave the shell's KUBECONFIG alone", () => {
    expect(loaded({ env: { KUBECONFIG: "/home/somebody/.kube/config" } }).config.objects.kubeconfig).toBeUndefined();
  });
});

describe("the Redis server", () => {
  it("is revealed only on request", () => {
    const { config } = loaded({ env: { STATE_BACKEND: "redis", REDIS_URL: "redis://:hunter2@redis:6379\n" } });

    expect(config.redis.url?.reveal()).toBe("redis://:hunter2@redis:6379");
    expect(
      `${config.redis.url} ${JSON.stringify(config)} ${inspect(config, { depth: 9, showHidden: true })}`,
    ).not.toContain("hunter2");
  });

  it.each([
    [{ STATE_BACKEND: "redis" }, "env STATE_BACKEND: state.backend is redis, but redis.url is not set."],
    [{ LOCKS_BACKEND: "redis" }, "env LOCKS_BACKEND: locks.backend is redis, but redis.url is not set."],
  ])("is required by %o", (env, problem) => {
    expect(problems({ env })).toEqual([
      `${problem} Set REDIS_URL to redis://host:6379, or write "url:" below "redis:" in the file.`,
    ]);
  });

  it("is not reported as missing if the file cannot be read", () => {
    const found = problems({ file: ["redis: {"], env: { STATE_BACKEND: "redis" } });

    expect(found).toEqual([expect.stringContaining("file interlock.yaml:")]);
  });

  it("causes a warning when no backend uses it", () => {
    const { warnings } = loaded({ env: { REDIS_URL: "redis://redis" } });

    expect(warnings).toEqual([
      "env REDIS_URL: redis.url is not used, because no backend is redis. Set STATE_BACKEND to redis to use it, or remove it.",
    ]);
  });

  it.each(["redis+sentinel://user:p%40ss@one:26379,two/name", "rediss+cluster://one:6379,[::1]:6380"])(
    "may be one of several: %s",
    (url) => {
      expect(problems({ env: { STATE_BACKEND: "redis", REDIS_URL: url } })).toEqual([]);
    },
  );

  it("of Azure wins over a URL, and needs an identity as a whole", () => {
    const env = { STATE_BACKEND: "redis", REDIS_HOST: "name.redis.cache.windows.net" };

    expect(loaded({ env: { ...env, REDIS_URL: "redis://other" } }).warnings).toEqual([
      "env REDIS_URL: redis.url is not used, because redis.host (env REDIS_HOST) wins.",
    ]);
    expect(problems({ env: { ...env, AZURE_FEDERATED_TOKEN_FILE: "/token", AZURE_CLIENT_ID: "one" } })).toEqual([
      expect.stringContaining("azure.federatedTokenFile is set, but azure.tenantId is not."),
    ]);
  });

  it.each([
    "localhost:6379",
    "http://redis",
    "redis://",
    "redis:///0",
    "redis://user:12#34@redis",
    "redis://user:12/34@redis",
    "redis://user:12?34@redis",
    "redis://:my pass@redis",
    "redis://:50%off@redis",
    "redis+sentinel://one/%E0%A4%A",
    "redis+sentinel://one,two",
    "redis+sentinel://one,/name",
    "redis+sentinel://user:12#34@one/name",
    "redis+cluster://one,two/0",
    "redis+other://one",
  ])("cannot be at %s", (url) => {
    expect(problems({ env: { STATE_BACKEND: "redis", REDIS_URL: url } })).toEqual([
      expect.stringMatching(/^env REDIS_URL: redis\.url is not a Redis URL .* Write redis:\/\/host:6379, /),
    ]);
  });
});

describe("the settings of the gateway", () => {
  it("never show a token", () => {
    const good = loaded({ env: { GATEWAY_TOKENS: "prometheus hunter2-hunter2-hunter2" } });
    const bad = problems({ env: { GATEWAY_TOKENS: "hunter2-hunter2-hunter2" } });

    expect(good.config.gateway.tokens?.reveal()).toBe("prometheus hunter2-hunter2-hunter2");
    expect(`${JSON.stringify(good.config)} ${bad.join()}`).not.toContain("hunter2");
    expect(bad).toEqual([expect.stringContaining("gateway.tokens is not a list of senders")]);
  });

  it.each(["8080", "localhost", "a:99999", "[::1]"])("refuse %s as an address", (listen) => {
    expect(problems({ env: { GATEWAY_LISTEN: listen } })).toEqual([expect.stringContaining("gateway.listen")]);
  });

  it("accept an IPv6 address", () => {
    expect(loaded({ env: { GATEWAY_LISTEN: "[::1]:80" } }).config.gateway.listen).toEqual({ host: "::1", port: 80 });
  });

  it("accept the fields of signals for fingerprints", () => {
    expect(problems({ file: ["gateway:", "  fingerprint: target, pod"] })).toEqual([
      expect.stringContaining("gateway.fingerprint"),
    ]);
  });
});

describe("the settings of the coder", () => {
  const gitlab = { GITLAB_URL: "https://gitlab.example.com" };
  const jira = { JIRA_URL: "https://example.atlassian.net", JIRA_EMAIL: "bot@example.com", JIRA_API_TOKEN: "hunter2" };

  it.each([
    [
      { GITLAB_WEBHOOK_SECRET: "s" },
      ["env GITLAB_WEBHOOK_SECRET: gitlab.webhookSecret is set, but gitlab.url is not."],
    ],
    [
      { ...gitlab, GITLAB_POLL: "true" },
      [
        "env GITLAB_POLL: gitlab.poll is set, but gitlab.token is not. Set GITLAB_TOKEN to a token of GitLab.",
        "env GITLAB_POLL: gitlab.poll is set, but gitlab.projects is not.",
      ],
    ],
    [{ ...gitlab, GITLAB_POLL: "true", GITLAB_PROJECTS: "a/b", GITLAB_TOKEN_FILE: "/token" }, []],
    [{ ...gitlab, ...jira, JIRA_API_TOKEN: "", JIRA_API_TOKEN_FILE: "/token", JIRA_PROJECT_MAP: "SHOP -> a/b" }, []],
    [{ GITLAB_WEBHOOK_SECRET_FILE: "/secret", JIRA_API_TOKEN_FILE: "/token" }, []],
    [
      { ...gitlab, ...jira },
      ["env JIRA_URL: jira.url is set, but jira.projects is not. Set JIRA_PROJECT_MAP to projects"],
    ],
    [{ ...jira, JIRA_PROJECT_MAP: "SHOP -> a/b" }, ["env JIRA_URL: jira.url is set, but gitlab.url is not."]],
  ])("are complete: %o", (env, expected) => {
    expect(problems({ env })).toEqual(expected.map((sentence) => expect.stringContaining(sentence)));
  });

  it.each([
    ["gitlab.token", "GITLAB_TOKEN"],
    ["gitlab.webhookSecret", "GITLAB_WEBHOOK_SECRET"],
    ["jira.apiToken", "JIRA_API_TOKEN"],
    ["notify.webhookSecret", "NOTIFY_WEBHOOK_SECRET"],
    ["notify.pagerdutyRoutingKey", "NOTIFY_PAGERDUTY_ROUTING_KEY"],
    ["notify.opsgenieApiKey", "NOTIFY_OPSGENIE_API_KEY"],
  ])("cause a warning when %s hides a file with it", (path, name) => {
    const env = { ...gitlab, ...jira, JIRA_PROJECT_MAP: "SHOP -> a/b", [name]: "hunter2", [`${name}_FILE`]: "/file" };

    expect(loaded({ env }).warnings).toEqual([
      `env ${name}_FILE: ${path}File is not used, because ${path} (env ${name}) wins. Remove one of them.`,
    ]);
  });

  it.each([
    ["SHOP -> group/shop@main", [{ project: "SHOP", repository: "group/shop", targetBranch: "main" }]],
    ["SHOP->4711", [{ project: "SHOP", repository: "4711" }]],
    [
      "SHOP -> a/b; OPS -> a/c@dev, trigger=Ready for AI, inProgress=Doing, inReview=Look at it;",
      [
        { project: "SHOP", repository: "a/b" },
        {
          project: "OPS",
          repository: "a/c",
          targetBranch: "dev",
          triggerStatus: "Ready for AI",
          inProgressStatus: "Doing",
          inReviewStatus: "Look at it",
        },
      ],
    ],
    [
      '{"mappings": {"SHOP": {"gitlab_project_id": 1, "clone_url": "https://t:hunter2@host/a.git", "target_branch": "main"}}}',
      [{ project: "SHOP", repository: "1", targetBranch: "main" }],
    ],
  ])("map projects of Jira: %s", (text, expected) => {
    const outcome = loaded({ env: { ...gitlab, ...jira, JIRA_PROJECT_MAP: text } });

    expect(outcome.config.jira.projects).toEqual(expected);
    const printed = describeConfig(outcome).find(({ setting }) => setting === "jira.projects")?.value ?? "";
    const again = loaded({ env: { ...gitlab, ...jira, JIRA_PROJECT_MAP: printed } });
    expect(again.config.jira.projects).toEqual(expected);
    expect(JSON.stringify([printed, outcome.config])).not.toContain("hunter2");
  });

  it.each([
    "SHOP",
    "shop -> a/b",
    "SHOP -> a b",
    "SHOP -> a/b; SHOP -> a/c",
    "SHOP -> a/b, status=x",
    "SHOP -> a/b, toString=x",
    "{",
    '{"mappings": {"SHOP": 1}}',
    '{"mappings": {}}',
    "SHOP -> https://u:hunter2@host/a",
  ])("refuse %s as a mapping, without repeating it", (text) => {
    const found = problems({ env: { ...gitlab, ...jira, JIRA_PROJECT_MAP: text } });

    expect(found).toEqual([expect.stringMatching(/^env JIRA_PROJECT_MAP: jira\.projects /)]);
    expect(found.join()).not.toContain("hunter2");
  });

  it("refuse a password in an address, without printing it", () => {
    const found = problems({ env: { GITLAB_URL: "https://oauth2:hunter2@gitlab.example.com" } });

    expect(found).toEqual([expect.stringMatching(/^env GITLAB_URL: gitlab\.url is not a URL .*without a user/)]);
    expect(found.join()).not.toContain("hunter2");
  });

  it.each([
    ["GITLAB_PROJECTS", "group/app, 4711", ["group/app", "4711"]],
    ["GITLAB_PROJECTS", "group", undefined],
    ["GITLAB_PROJECTS", "a/b,", undefined],
    ["GITLAB_POLL_FROM", "2h", 7_200_000],
    ["GITLAB_POLL_FROM", "yesterday", undefined],
    ["GITLAB_SKIP_LABELS", "no review, bot::off", ["no review", "bot::off"]],
    ["GITLAB_SKIP_LABELS", "a,,b", undefined],
  ])("read %s=%s", (name, text, expected) => {
    const outcome = loadConfig({ env: { [name]: text } });

    const { projects, pollFrom, skipLabels } = outcome.kind === "loaded" ? outcome.config.gitlab : {};
    const values = { GITLAB_PROJECTS: projects, GITLAB_POLL_FROM: pollFrom, GITLAB_SKIP_LABELS: skipLabels };
    expect(values[name as keyof typeof values]).toEqual(expected);
  });
});

describe("a time to live of locks", () => {
  it.each(["9s", "61s"])("of %s is accepted with a warning", (ttl) => {
    const { warnings } = loaded({ file: ["locks:", `  ttl: ${ttl}`] });

    expect(warnings).toEqual([
      expect.stringContaining(`file interlock.yaml:2: locks.ttl is ${ttl}, outside 10s to 60s`),
    ]);
  });

  it.each(["10s", "1m"])("of %s is usual", (ttl) => {
    expect(loaded({ file: ["locks:", `  ttl: ${ttl}`] }).warnings).toEqual([]);
  });

  it("below 500ms is refused", () => {
    expect(problems({ file: ["locks:", "  ttl: 499ms"] })).toEqual([
      'file interlock.yaml:2: locks.ttl is "499ms", which is shorter than 500ms. Write 500ms or more.',
    ]);
  });
});

describe("a problem", () => {
  it.each([
    [
      "locks: {ttl: 30}",
      'locks.ttl is "30", which has no unit. Write 30s, or a duration such as 500ms, 30s, 1m30s or 1h.',
    ],
    ["log: {level: inof}", 'log.level is "inof", which is not one of debug, info, warn, error. Write info.'],
    [
      "log: {level: loud}",
      'log.level is "loud", which is not one of debug, info, warn, error. Write one of debug, info, warn, error.',
    ],
    [
      "claims: {memoryEntries: 1.5}",
      'claims.memoryEntries is "1.5", which is not a whole number, 1 or more. Write a whole number, 1 or more, in digits alone.',
    ],
    ["claims: {lease: [1s]}", "claims.lease is not a single value. Write a duration such as 500ms, 30s, 1m30s or 1h."],
    [
      "claims: {lease: *nowhere}",
      "claims.lease is not a single value. Write a duration such as 500ms, 30s, 1m30s or 1h.",
    ],
    [
      "claims: {lease: 1s, lease: 2s}",
      "claims.lease was written before, at file interlock.yaml:1. Keep one of the two.",
    ],
    ["lock: {ttl: 30s}", 'lock is not a section of settings. Did you mean locks? Write "locks:".'],
    ["locks: {time: 30s}", 'locks.time is not a setting. Write "backend:" or "ttl:" or "wait:" or "namespace:".'],
    ["claims: {done_ttl: 2h}", 'claims.done_ttl is not a setting. Did you mean claims.doneTtl? Write "doneTtl:".'],
    [
      "locks.ttl: 30s",
      'locks.ttl is not a section of settings. Did you mean locks.ttl? Write "locks:" and, indented below it, "ttl:".',
    ],
    [
      "LOG_LEVEL: info",
      'LOG_LEVEL is not a section of settings. Did you mean log.level? Write "log:" and, indented below it, "level:".',
    ],
    ["? [a]\n: b", `a name is not a section of settings. Write ${sections.map((name) => `"${name}:"`).join(" or ")}.`],
    ["log: debug", 'log is not a section of settings. Write "log:" and, indented below it, "level:" with its value.'],
    [
      "log: *nowhere",
      'log is not a section of settings. Write "log:" and, indented below it, "level:" with its value.',
    ],
    [
      "- log",
      'the file does not consist of sections of settings. Write "state:" and, indented below it, "backend:" with its value.',
    ],
    ["log: !env LEVEL", "tags such as !env have no meaning here. Write the value itself."],
    ["log:\n\tlevel: info", "the line is indented with a tab. Indent with spaces."],
  ])("in %j is reported with its place, the problem and what to write", (text, problem) => {
    const [found] = problems({ file: text.split("\n") });

    expect(found).toMatch(/^file interlock\.yaml:[12]: /);
    expect(found).toContain(`: ${problem}`);
  });

  it("in a value that the environment overrides is still reported", () => {
    const found = problems({ file: ["log:", "  level: loud"], env: { LOG_LEVEL: "info" } });

    expect(found).toEqual([expect.stringMatching(/^file interlock\.yaml:2: log\.level /)]);
  });

  it("does not hide another one", () => {
    const mistakes = [
      { path: "state.backend", env: "STATE_BACKEND" },
      { path: "redis.url", env: "REDIS_URL" },
      { path: "locks.backend", env: "LOCKS_BACKEND" },
      { path: "locks.ttl" },
      { path: "locks.namespace" },
      { path: "claims.doneTtl" },
      { path: "claims.memoryEntries" },
      { path: "claims.nonsense" },
      { path: "watermarks.overlap" },
      { path: "log.level", env: "LOG_LEVEL" },
      { path: "log.format" },
    ];

    fc.assert(
      fc.property(fc.subarray(mistakes, { minLength: 1 }), fc.boolean(), (made, preferEnv) => {
        const inEnv = made.filter(({ env }) => env && preferEnv);
        const inFile = made.filter((mistake) => !inEnv.includes(mistake));
        const sections = [...new Set(inFile.map(({ path }) => path.split(".")[0]))];
        const file = sections.flatMap((section) => [
          `${section}:`,
          ...inFile
            .map(({ path }) => path.split("."))
            .flatMap(([above, name]) => (above === section ? [`  ${name}: Wrong!`] : [])),
        ]);

        const found = problems({ file, env: Object.fromEntries(inEnv.map(({ env }) => [env, "Wrong!"])) });

        expect(found).toHaveLength(made.length);
        for (const { path } of made)
          expect(found.filter((problem) => problem.includes(`: ${path} is`))).toHaveLength(1);
      }),
    );
  });
});

describe("a password", () => {
  // What people do to it: forget to quote or encode it, put it into the wrong place, or forget what goes around it.
  const places: readonly ((url: string) => Parameters<typeof loadConfig>[0])[] = [
    (url) => ({ env: { STATE_BACKEND: "redis", REDIS_URL: url } }),
    (url) => ({ env: { REDIS_URL: url } }),
    (url) => ({ env: { LEDGER_URL: url } }),
    (url) => ({ env: { LEDGER_URL: `postgres://${url}` } }),
    (url) => ({ env: { STATE_BACKEND: url, LOCKS_BACKEND: url, LOG_LEVEL: url } }),
    (url) => ({ env: {}, yaml: yaml(`state: {backend: redis}\nredis:\n  url: ${url}\n`) }),
    (url) => ({ env: {}, yaml: yaml(`redis:\n  url: "${url}"\n  url: '${url}'\n`) }),
    (url) => ({ env: {}, yaml: yaml(`redis:\n  ulr: ${url}\n`) }),
    (url) => ({ env: {}, yaml: yaml(`redis: {url: ${url}}\n`) }),
    (url) => ({ env: {}, yaml: yaml(`redis:\n  ${url}\n`) }),
    (url) => ({ env: {}, yaml: yaml(`redis:\n  ${url}: yes\n`) }),
    (url) => ({ env: {}, yaml: yaml(`redis: ${url}\n`) }),
    (url) => ({ env: {}, yaml: yaml(`${url}\n`) }),
    (url) => ({
      env: {},
      yaml: yaml(`locks:\n  namespace: ${url}\n  ttl: ${url}\nclaims:\n  memoryEntries: ${url}\n`),
    }),
  ];
  const noise = fc.string({ unit: fc.constantFrom(..."abc019 ,:#[]'\"`!&*@/%?|>-\\$"), maxLength: 6 });

  it("is never printed, even if it is misplaced or malformed", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        noise,
        noise,
        fc.constantFrom("redis://user:", "redis://:", "user:"),
        (place, before, after, start) => {
          const outcome = loadConfig(place(`${start}${before}hunter2${after}@redis:6379`));

          const described = outcome.kind === "loaded" ? [describeConfig(outcome), explainState(outcome)] : [];
          expect(`${JSON.stringify([outcome, described])} ${inspect(outcome, { depth: 9 })}`).not.toContain("hunter2");
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe("the ledger's database", () => {
  it("is revealed only on request", () => {
    const { config } = loaded({ env: { LEDGER_URL: "postgres://interlock:hunter2@db:5432/ledger?sslmode=require" } });

    expect(config.ledger.url?.reveal()).toContain("hunter2");
    expect(`${JSON.stringify(config)} ${inspect(config, { depth: 9, showHidden: true })}`).not.toContain("hunter2");
  });

  it.each([
    "db:5432/ledger",
    "mysql://db/ledger",
    "postgres://",
    "postgres://u:12#34@db/l",
    "postgres://u:1/2@db/l",
    "postgres://u:50%off@db/l",
  ])("cannot be at %s", (url) => {
    const [problem] = problems({ env: { LEDGER_URL: url } });

    expect(problem).toMatch(/^env LEDGER_URL: ledger\.url is not a PostgreSQL URL .* Write postgres:\/\//);
  });
});

describe("sources.<name>.map", () => {
  const lines = (text: string) => ({ file: text.split("\n") });

  it("is a structure for each name", () => {
    const text = "sources:\n  a:\n    map: { name: item.x }\n  b-2:\n    map:\n      labels: { team: item.team }\n";

    const { config, origins } = loaded(lines(text));

    expect(config.sources.maps).toEqual(
      new Map([
        ["a", { name: "item.x" }],
        ["b-2", { labels: { team: "item.team" } }],
      ]),
    );
    expect(origins.get("sources.<name>.map")).toBe("file interlock.yaml:3");
  });

  it.each([
    ["sources:\n  a:\n    map: item.x\n", /:3: sources\.a\.map is not a structure\. Write expressions/],
    [
      "sources:\n  a:\n    mapp: { name: item.x }\n",
      /:3: sources\.a\.mapp is not a setting\. Did you mean sources\.a\.map\?/,
    ],
    ["sources:\n  Not A Name:\n    map: { name: item.x }\n", /is not a setting/],
    ["sources:\n  eventReason: Evicted\n", /Did you mean sources\.eventReasons\?/],
  ])("%j is refused", (text, problem) => {
    expect(problems(lines(text))).toEqual([expect.stringMatching(problem)]);
  });
});

interface Sources {
  readonly file?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function load({ file, env = {} }: Sources = {}) {
  return loadConfig({ yaml: file && yaml(file.join("\n")), env });
}

function loaded(sources?: Sources): LoadedConfig {
  const outcome = load(sources);
  if (outcome.kind === "invalid") throw new Error(outcome.problems.join("\n"));
  return outcome;
}

function problems(sources: Sources): readonly string[] {
  const outcome = load(sources);
  return outcome.kind === "invalid" ? outcome.problems : [];
}

function yaml(text: string) {
  return { path: "interlock.yaml", text };
}

describe("a variable of the environment", () => {
  it.each([
    [{ INTERLOCK_LOCKS_TTL: "45s" }, "locks.ttl", "45s", "env INTERLOCK_LOCKS_TTL"],
    [{ INTERLOCK_CLAIMS_DONE_TTL: "2h" }, "claims.doneTtl", "2h", "env INTERLOCK_CLAIMS_DONE_TTL"],
    [{ INTERLOCK_LOG_LEVEL: "debug", LOG_LEVEL: "warn" }, "log.level", "debug", "env INTERLOCK_LOG_LEVEL"],
  ])("%j sets %s", (env, path, value, origin) => {
    const loaded = loadConfig({ env });

    if (loaded.kind === "invalid") throw new Error(loaded.problems.join());
    expect(describeConfig(loaded)).toContainEqual({ setting: path, value, origin });
  });

  it("never sets the policy, in which stages could then differ", () => {
    const policy = settings.filter(({ isPolicy }) => isPolicy);

    expect(policy.length).toBeGreaterThan(0);
    expect(policy.flatMap(({ variables }) => variables)).toEqual([]);
  });

  it("sets one setting only", () => {
    const names = settings.flatMap(({ variables }) => variables);

    expect(new Set(names).size).toBe(names.length);
  });
});
