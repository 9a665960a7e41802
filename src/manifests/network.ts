import type { KubeObject } from "../kube/index.ts";
import type { StageName } from "./permissions.ts";
import type { Places } from "./rbac.ts";
import { consolePort, gatewayPort, metricsPort, stageLabels } from "./workloads.ts";

/**
 * The allowed connections. Only senders connect to the gateway's port, and only Prometheus to the metrics of the other stages;
 * nothing connects to the pods of workflows. The cluster's network plugin enforces it.
 */
export function networkPolicies({ locks, runs }: Places): readonly KubeObject[] {
  return [
    denyIngress(locks),
    // From anywhere: senders may be outside of the cluster. The gateway authenticates them by their tokens.
    ingress("gateway", locks, [{ ports: [tcp(gatewayPort)] }]),
    ...(["orchestrator", "executor", "notify"] as const).map((stage) => metricsIngress(stage, locks)),
    ...(["gateway", "orchestrator", "executor"] as const).map((stage) => egress(stage, locks, knownServices)),
    // Channels are anywhere, on any port.
    egress("notify", locks, anyService),
    ...(runs === locks ? [] : [denyIngress(runs)]),
    // A workflow may connect to anything but the credentials of its node.
    namespaceEgress("runs", runs),
  ];
}

/** The allowed connections of the agent and its Jobs. */
export function agentNetworkPolicies({ locks, agents }: Places): readonly KubeObject[] {
  return [
    metricsIngress("agent", locks),
    // GitLab and Jira are anywhere, on any port.
    egress("agent", locks, anyService),
    ...(agents === locks ? [] : [denyIngress(agents)]),
    namespaceEgress("agents", agents),
  ];
}

/** The allowed connections of the console: pods of the cluster reach it, such as those of an ingress. */
export function consoleNetworkPolicies({ locks }: Places): readonly KubeObject[] {
  return [
    ingress("console", locks, [{ from: [{ namespaceSelector: {} }], ports: [tcp(consolePort)] }]),
    // The identity provider is anywhere, on any port.
    egress("console", locks, anyService),
  ];
}

function denyIngress(namespace: string): KubeObject {
  return policy("interlock-deny-ingress", namespace, { podSelector: {}, policyTypes: ["Ingress"] });
}

function ingress(stage: StageName, namespace: string, rules: readonly object[]): KubeObject {
  const podSelector = { matchLabels: stageLabels(stage) };
  return policy(`interlock-${stage}`, namespace, { podSelector, policyTypes: ["Ingress"], ingress: rules });
}

/** From every namespace, because the location of Prometheus is unknown. Metrics contain no targets and no secrets. */
function metricsIngress(stage: StageName, namespace: string): KubeObject {
  return ingress(stage, namespace, [{ from: [{ namespaceSelector: {} }], ports: [tcp(metricsPort)] }]);
}

function egress(stage: StageName, namespace: string, rules: readonly object[]): KubeObject {
  const podSelector = { matchLabels: stageLabels(stage) };
  return policy(`interlock-${stage}-egress`, namespace, { podSelector, policyTypes: ["Egress"], egress: rules });
}

/** For all pods of a namespace. */
function namespaceEgress(name: string, namespace: string): KubeObject {
  const spec = { podSelector: {}, policyTypes: ["Egress"], egress: anyService };
  return policy(`interlock-${name}-egress`, namespace, spec);
}

function tcp(port: number) {
  return { protocol: "TCP", port };
}

/**
 * By port alone: the API server is no pod that a selector could name, and Redis and PostgreSQL may be outside of the cluster.
 * DNS; the API server as a Service and by its own port; PostgreSQL; Redis and its Sentinels.
 */
const knownServices: readonly object[] = [
  { ports: [{ protocol: "UDP", port: 53 }, tcp(53)] },
  { ports: [443, 6_443, 5_432, 6_379, 26_379].map(tcp) },
];

/** Link-local addresses are where clouds hand out the node's credentials; `fd00:ec2::254` is that of AWS. */
const anywhereButMetadata = {
  to: [
    { namespaceSelector: {} },
    { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] } },
    { ipBlock: { cidr: "::/0", except: ["fe80::/10", "fd00:ec2::/32"] } },
  ],
};

const anyService: readonly object[] = [...knownServices, anywhereButMetadata];

function policy(name: string, namespace: string, spec: object): KubeObject {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace },
    spec,
  } as KubeObject;
}
