import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/kube/index.ts";
import { agentManifests, consoleManifests, manifests, stages, usualManifests } from "../../src/manifests/index.ts";

interface Rule {
  readonly from?: readonly object[];
  readonly to?: readonly object[];
  readonly ports?: readonly { readonly protocol: string; readonly port: number }[];
}

interface NetworkPolicy extends KubeObject {
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

const all = [...[...manifests().values()].flat(), ...agentManifests(), ...consoleManifests()];
const policies = all.filter(({ kind }) => kind === "NetworkPolicy") as NetworkPolicy[];
const { places } = usualManifests;

describe("the network policies", () => {
  it.each([places.locks, places.runs, places.agents])("deny ingress to every pod in %s by default", (namespace) => {
    const denying = ingressOf(namespace, {}).filter(({ spec }) => spec.ingress === undefined);

    expect(denying.map(({ spec }) => spec.podSelector)).toEqual([{}]);
  });

  it.each(stages)("let nothing in to the %s but on the port that its container names", (stage) => {
    const labels = { "app.kubernetes.io/name": "interlock", "app.kubernetes.io/component": stage };
    const { containerPort } = portOf(stage);

    const rules = ingressOf(places.locks, labels).flatMap(({ spec }) => spec.ingress ?? []);

    expect(rules.map(({ ports }) => ports)).toEqual([[{ protocol: "TCP", port: containerPort }]]);
    // Only senders of signals may be outside of the cluster.
    expect(rules[0]?.from).toEqual(stage === "gateway" ? undefined : [{ namespaceSelector: {} }]);
  });

  it.each(["gateway", "orchestrator", "executor"])("let the %s out to known ports only", (stage) => {
    const labels = { "app.kubernetes.io/name": "interlock", "app.kubernetes.io/component": stage };

    const rules = egressOf(places.locks, labels);

    expect(rules.every(({ ports }) => ports !== undefined)).toBe(true);
    expect(new Set(rules.flatMap(({ ports = [] }) => ports.map(({ port }) => port)))).toEqual(
      new Set([53, 443, 6_443, 5_432, 6_379, 26_379]),
    );
  });

  it.each([
    ["notices' channels", places.locks, { "app.kubernetes.io/component": "notify" }],
    ["GitLab and Jira", places.locks, { "app.kubernetes.io/component": "agent" }],
    ["the identity provider", places.locks, { "app.kubernetes.io/component": "console" }],
    ["what workflows need", places.runs, {}],
    ["what coders need", places.agents, {}],
  ])("let out to %s, but not to where nodes get their credentials", (_what, namespace, labels) => {
    const wide = egressOf(namespace, labels).filter(({ ports }) => ports === undefined);

    const blocks = wide.flatMap(({ to = [] }) => to).filter((peer) => "ipBlock" in peer);
    expect(JSON.stringify(blocks)).toContain('"cidr":"0.0.0.0/0","except":["169.254.0.0/16"]');
    expect(blocks.every((peer) => JSON.stringify(peer).includes('"except"'))).toBe(true);
  });
});

/** Policies for ingress that select pods with these labels. */
function ingressOf(namespace: string, labels: Readonly<Record<string, string>>): readonly NetworkPolicy[] {
  return selecting(namespace, labels).filter(({ spec }) => spec.policyTypes.includes("Ingress"));
}

function egressOf(namespace: string, labels: Readonly<Record<string, string>>): readonly Rule[] {
  return selecting(namespace, labels).flatMap(({ spec }) => spec.egress ?? []);
}

function selecting(namespace: string, labels: Readonly<Record<string, string>>): readonly NetworkPolicy[] {
  const all = { "app.kubernetes.io/name": "interlock", ...labels } as Readonly<Record<string, string>>;
  return policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === namespace &&
      Object.entries(spec.podSelector.matchLabels ?? {}).every(([key, value]) => all[key] === value),
  );
}

function portOf(stage: string): { readonly containerPort: number } {
  const deployment = all.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === `interlock-${stage}`);
  const { containers } = (deployment as unknown as { spec: { template: { spec: { containers: Container[] } } } }).spec
    .template.spec;
  return containers[0]?.ports[0] ?? { containerPort: 0 };
}

interface Container {
  readonly ports: readonly { readonly containerPort: number }[];
}
