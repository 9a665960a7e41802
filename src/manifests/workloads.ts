import type { KubeObject } from "../kube/index.ts";
import type { StageName } from "./permissions.ts";
import type { Places } from "./rbac.ts";

export interface ManifestOptions {
  readonly image: string;
  readonly replicas: number;
  readonly places: Places;
  /** Name of a Secret of the type kubernetes.io/tls, with which the gateway serves TLS. Without one it serves plain HTTP. */
  readonly gatewayTls?: string;
}

/** The names of ConfigMaps, as Kubernaut has them. */
const configMaps: Readonly<Record<StageName, string>> = {
  gateway: "gateway-config",
  orchestrator: "remediationorchestrator-config",
  executor: "workflowexecution-config",
  notify: "notification-config",
  agent: "agent-config",
  console: "console-config",
};

export const gatewayPort = 8_080;
export const metricsPort = 9_090;
export const consolePort = 8_090;

/** The labels of a stage's pods. */
export function stageLabels(stage: StageName): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": "interlock", "app.kubernetes.io/component": stage };
}

/** A stage's configuration, processes and Service. */
export function stageWorkload(stage: StageName, options: ManifestOptions): readonly KubeObject[] {
  const { locks: namespace } = options.places;
  const name = `interlock-${stage}`;
  const labels = stageLabels(stage);
  const port = stagePort(stage);
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: configMaps[stage], namespace },
      data: { "interlock.yaml": stageConfig(stage, options) },
    } as KubeObject,
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace, labels },
      spec: {
        // Sessions are signed with a key of the replica, unless you give all replicas the same (docs/cluster.md).
        replicas: stage === "console" ? 1 : options.replicas,
        selector: { matchLabels: labels },
        // The old pods finish their work while the new ones take over.
        strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template: { metadata: { labels }, spec: podTemplate(stage, options) },
      },
    } as KubeObject,
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace, labels },
      spec: { selector: labels, ports: [{ name: port.name, port: port.containerPort, targetPort: port.name }] },
    } as KubeObject,
    ...(stage === "console" ? [] : [disruptionBudget(stage, namespace)]),
  ];
}

function disruptionBudget(stage: StageName, namespace: string): KubeObject {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: `interlock-${stage}`, namespace },
    spec: { minAvailable: 1, selector: { matchLabels: stageLabels(stage) } },
  } as KubeObject;
}

/** Gateway and console answer probes where they serve everything else. */
function stagePort(stage: StageName) {
  if (stage === "gateway") return { name: "http", containerPort: gatewayPort };
  if (stage === "console") return { name: "http", containerPort: consolePort };
  return { name: "metrics", containerPort: metricsPort };
}

function podTemplate(stage: StageName, { image, gatewayTls }: ManifestOptions) {
  const port = stagePort(stage);
  const tlsSecret = stage === "gateway" ? gatewayTls : undefined;
  const scheme = tlsSecret === undefined ? {} : { scheme: "HTTPS" };
  const probe = (path: string) => ({ httpGet: { path, port: port.name, ...scheme }, periodSeconds: 5 });
  const volumes = [
    { name: "config", configMap: { name: configMaps[stage] } },
    // The ledger's journal: it outlives the container, not the node. docs/cluster.md has the alternative.
    { name: "data", emptyDir: {} },
    ...(stage === "gateway" ? [{ name: "tokens", secret: { secretName: "interlock-gateway-tokens" } }] : []),
    ...(stage === "gateway" ? [{ name: "agent-tokens", secret: webhookSecret }] : []),
    ...(tlsSecret === undefined ? [] : [{ name: "tls", secret: { secretName: tlsSecret } }]),
    ...(stage === "agent" ? [{ name: "agent-tokens", secret: { secretName: agentTokens } }] : []),
    // The root file system is read-only.
    ...(stage === "agent" ? [{ name: "tmp", emptyDir: {} }] : []),
    // The gateway reads them for alerts that name no object; the console shows them.
    ...(["orchestrator", "gateway", "console"].includes(stage)
      ? [{ name: "rules", configMap: { name: "interlock-rules", optional: true } }]
      : []),
    // One ConfigMap for all of these stages: otherwise their decisions could differ.
    ...(readsPolicy(stage) ? [{ name: "policy", configMap: { name: policyConfigMap } }] : []),
  ];
  const mounts: Readonly<Record<string, string>> = {
    config: "/etc/interlock",
    data: "/data",
    tokens: "/etc/interlock-tokens",
    "agent-tokens": tokenFolder,
    tls: tlsFolder,
    rules: "/etc/interlock-rules",
    policy: policyFolder,
    tmp: "/tmp",
  };
  return {
    serviceAccountName: `interlock-${stage}`,
    // Work in progress is finished and returned first.
    terminationGracePeriodSeconds: 30,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" }, fsGroup: 1_000 },
    containers: [
      {
        name: stage,
        image,
        args: [stage, "--config", "/etc/interlock/interlock.yaml", "--data", configData(stage)],
        ...podEnvironment(stage),
        ports: [port],
        livenessProbe: probe("/healthz"),
        readinessProbe: probe("/readyz"),
        resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: volumes.map(({ name }) => ({ name, mountPath: mounts[name] })),
      },
    ],
    volumes,
  };
}

/** The coder must not see the data of the process, but works on the same volume. */
function configData(stage: StageName): string {
  return stage === "agent" ? "/data/own" : "/data";
}

const agentSecret = "interlock-agent";

/** Mounted as files, which change in place when a token is replaced; environment variables do not. */
const agentTokens = "interlock-agent-tokens";
const tokenFolder = "/etc/interlock-agent-tokens";
const tlsFolder = "/etc/interlock-tls";

/** The only one of these tokens that the gateway gets. */
const webhookSecret = {
  secretName: agentTokens,
  items: [{ key: "webhook-secret", path: "webhook-secret" }],
  optional: true,
};

/** The gateway's further settings for the agent's GitLab. It has no token for it. */
const webhookSettings = [
  "GITLAB_URL",
  "GITLAB_WEBHOOK_NETWORKS",
  "GITLAB_PROJECTS",
  "GITLAB_REVIEW_DRAFTS",
  "GITLAB_SKIP_LABELS",
  "AGENT_GITLAB_USERNAME",
];

/** Whether a stage reads the policy settings, or the kinds that are declared with them. */
function readsPolicy(stage: StageName): boolean {
  return stage === "gateway" || stage === "orchestrator" || stage === "executor" || stage === "console";
}

const policyConfigMap = "interlock-policy";
const policyFolder = "/etc/interlock-policy";
const policyFile = "policy.yaml";

/** The policy, read by gateway, orchestrator and executor alike. */
export function policyConfig({ locks: namespace }: Places): KubeObject {
  const lines = [
    "# Cooldown, backoff, limits and observe, for orchestrator and executor; declared kinds, for the gateway, too.",
    "resource_locking:",
    "  cooldown_period: 5m",
  ];
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: policyConfigMap, namespace },
    data: { [policyFile]: `${lines.join("\n")}\n` },
  } as KubeObject;
}

function podEnvironment(stage: StageName) {
  // Where the ledger's database is, and Redis, if there is one.
  const common = { secretRef: { name: "interlock-secrets", optional: true } };
  if (stage === "agent") return { envFrom: [common, { secretRef: { name: agentSecret } }] };
  if (!readsPolicy(stage)) return { envFrom: [common] };
  const policy = { name: "INTERLOCK_POLICY", value: `${policyFolder}/${policyFile}` };
  // The identity provider, if there is one.
  const ownSecret = { secretRef: { name: "interlock-console", optional: true } };
  if (stage === "console") return { envFrom: [common, ownSecret], env: [policy] };
  if (stage !== "gateway") return { envFrom: [common], env: [policy] };
  const webhooks = webhookSettings.map((key) => ({
    name: key,
    valueFrom: { secretKeyRef: { name: agentSecret, key, optional: true } },
  }));
  return { envFrom: [common], env: [policy, ...webhooks] };
}

function stageConfig(stage: StageName, { image, places, gatewayTls }: ManifestOptions): string {
  const { locks, incidents, runs, agents, watermarks: marks } = places;
  const common = [
    "objects:",
    "  server: in-cluster",
    "locks:",
    `  namespace: ${locks}`,
    "ledger:",
    "  # /data is an emptyDir. With a volume of its own for each pod: persistent.",
    "  volume: ephemeral",
  ];
  const watermarks = ["watermarks:", `  namespace: ${marks}`];
  const tls = [`  tlsCertFile: ${tlsFolder}/tls.crt`, `  tlsKeyFile: ${tlsFolder}/tls.key`];
  const metrics = ["metrics:", `  listen: 0.0.0.0:${metricsPort}`];
  const execution = ["execution:", `  namespace: ${runs}`];
  // Those of the executor: the orchestrator blocks what none of them can run.
  const engines = ["  engine: tekton", "  engines: tekton, job"];
  const tasks = ["agent:", `  namespace: ${incidents}`];
  const lines: Readonly<Record<StageName, readonly string[]>> = {
    gateway: [
      ...common,
      ...watermarks,
      "gateway:",
      `  listen: 0.0.0.0:${gatewayPort}`,
      ...(gatewayTls === undefined ? [] : tls),
      "  tokenFile: /etc/interlock-tokens/tokens",
      `  namespace: ${incidents}`,
      "  # There is no volume for a journal: counts are durable in the incident.",
      "  durability: status",
      ...tasks,
      "gitlab:",
      `  webhookSecretFile: ${tokenFolder}/webhook-secret`,
      "rules:",
      "  dir: /etc/interlock-rules",
    ],
    orchestrator: [...common, ...metrics, ...execution, ...engines, "rules:", "  dir: /etc/interlock-rules"],
    executor: [...common, ...metrics, ...execution, ...engines],
    notify: [...common, ...metrics],
    agent: [
      ...common,
      ...watermarks,
      ...metrics,
      ...tasks,
      "  # Apart from this process and its tokens: pods may not make namespaces of their own.",
      "  executor: job",
      `  jobNamespace: ${agents}`,
      `  jobOwnImage: ${image}`,
      "  workDir: /data/work",
      "gitlab:",
      `  tokenFile: ${tokenFolder}/gitlab-token`,
      "jira:",
      `  apiTokenFile: ${tokenFolder}/jira-token`,
    ],
    console: [
      ...common,
      ...execution,
      ...engines,
      ...tasks,
      "gateway:",
      `  namespace: ${incidents}`,
      "console:",
      `  listen: 0.0.0.0:${consolePort}`,
      `  hosts: interlock-console, interlock-console.${locks}, interlock-console.${locks}.svc`,
      "rules:",
      "  dir: /etc/interlock-rules",
    ],
  };
  return `${lines[stage].join("\n")}\n`;
}
