import type { KubeObject } from "../kube/index.ts";
import type { Places } from "./rbac.ts";
import { consolePort, gatewayPort, metricsPort, stageLabels } from "./workloads.ts";

/**
 * Who may connect to whom. Nothing connects to the stages but senders to the gateway's port and Prometheus to the others'
 * figures; nothing connects to what workflows run. What enforces it is the cluster's network plugin.
 */
export function networkPolicies(places: Places): readonly KubeObject[] {
  const { locks, runs } = places;
  const [gateway, orchestrator, executor, notify] = [
    stageLabels("gateway"),
    stageLabels("orchestrator"),
    stageLabels("executor"),
    stageLabels("notify"),
  ];
  return [
    denyIngress(locks),
    // From anywhere: senders may be outside of the cluster. Their tokens decide what they may do.
    ingress("interlock-gateway", locks, gateway, [{ ports: [tcp(gatewayPort)] }]),
    metricsIngress("interlock-orchestrator", locks, orchestrator),
    metricsIngress("interlock-executor", locks, executor),
    metricsIngress("interlock-notify", locks, notify),
    egress("interlock-gateway-egress", locks, gateway, knownServices),
    egress("interlock-orchestrator-egress", locks, orchestrator, knownServices),
    egress("interlock-executor-egress", locks, executor, knownServices),
    // Channels are anywhere, on any port.
    egress("interlock-notify-egress", locks, notify, [...knownServices, anywhereButMetadata]),
    ...(runs === locks ? [] : [denyIngress(runs)]),
    // What a workflow connects to is its own matter, but the node's credentials are not.
    egress("interlock-runs-egress", runs, {}, [...knownServices, anywhereButMetadata]),
  ];
}

/** The same for the agent and its Jobs. */
export function agentNetworkPolicies({ locks, agents }: Places): readonly KubeObject[] {
  const agent = stageLabels("agent");
  return [
    metricsIngress("interlock-agent", locks, agent),
    // GitLab and Jira are anywhere, on any port.
    egress("interlock-agent-egress", locks, agent, [...knownServices, anywhereButMetadata]),
    ...(agents === locks ? [] : [denyIngress(agents)]),
    egress("interlock-agents-egress", agents, {}, [...knownServices, anywhereButMetadata]),
  ];
}

/** The same for the console: pods of the cluster reach it, such as those of an ingress. */
export function consoleNetworkPolicies({ locks }: Places): readonly KubeObject[] {
  const console = stageLabels("console");
  return [
    ingress("interlock-console", locks, console, [{ from: [{ namespaceSelector: {} }], ports: [tcp(consolePort)] }]),
    // The identity provider is anywhere, on any port.
    egress("interlock-console-egress", locks, console, [...knownServices, anywhereButMetadata]),
  ];
}

type PodLabels = Readonly<Record<string, string>>;

function denyIngress(namespace: string): KubeObject {
  return policy("interlock-deny-ingress", namespace, { podSelector: {}, policyTypes: ["Ingress"] });
}

function ingress(name: string, namespace: string, labels: PodLabels, rules: readonly object[]): KubeObject {
  return policy(name, namespace, {
    podSelector: { matchLabels: labels },
    policyTypes: ["Ingress"],
    ingress: rules,
  });
}

/** From every namespace, because the location of Prometheus is unknown. Metrics contain no targets and no secrets. */
function metricsIngress(name: string, namespace: string, labels: PodLabels): KubeObject {
  return ingress(name, namespace, labels, [{ from: [{ namespaceSelector: {} }], ports: [tcp(metricsPort)] }]);
}

function egress(name: string, namespace: string, labels: PodLabels, rules: readonly object[]): KubeObject {
  const podSelector = Object.keys(labels).length === 0 ? {} : { matchLabels: labels };
  return policy(name, namespace, { podSelector, policyTypes: ["Egress"], egress: rules });
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

function policy(name: string, namespace: string, spec: object): KubeObject {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace },
    spec,
  } as KubeObject;
}
