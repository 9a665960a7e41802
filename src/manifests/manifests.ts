import type { KubeObject } from "../kube/index.ts";
import { executionNamespace, managedBy } from "../resources/index.ts";
import { ackIdentity, approvalIdentity, resumeIdentity } from "./identity.ts";
import { agentNetworkPolicies, consoleNetworkPolicies, networkPolicies } from "./network.ts";
import { type StageName, stages } from "./permissions.ts";
import { coderRbac, type Places, stageRbac } from "./rbac.ts";
import { policyConfig, stageWorkload } from "./workloads.ts";

export interface ManifestOptions {
  readonly image: string;
  readonly replicas: number;
  readonly places: Places;
  /** Name of a Secret of the type kubernetes.io/tls, with which the gateway serves TLS. Without one it serves plain HTTP. */
  readonly gatewayTls?: string;
}

/** The version of the package, by which images are tagged. A test compares it with package.json. */
export const version = "0.1.0";

export const usualManifests: ManifestOptions = {
  image: `interlock:${version}`,
  replicas: 2,
  places: {
    incidents: "kubernaut-system",
    locks: "kubernaut-system",
    watermarks: "interlock-watermarks",
    runs: executionNamespace,
    agents: "kubernaut-agents",
  },
};

/** Everything that a cluster needs but the CRDs, the agent and the console, by file. */
export function manifests(options: ManifestOptions = usualManifests): ReadonlyMap<string, readonly KubeObject[]> {
  const { places } = options;
  const { agents: _, ...usual } = places;
  const files: [string, readonly KubeObject[]][] = [
    ["namespaces", [...new Set(Object.values(usual))].map((name) => namespaceObject(name, name === places.runs))],
    ...stages
      .filter((stage) => stage !== "agent" && stage !== "console")
      .map((stage): [string, readonly KubeObject[]] => [stage, ofStage(stage, options)]),
    ["policy", [policyConfig(places)]],
    ["network", networkPolicies(places)],
    ["identity", [...ackIdentity(places), ...approvalIdentity(places), ...resumeIdentity()]],
  ];
  return new Map(files.map(([file, objects]) => [file, objects.map(withOwnerLabel)]));
}

/** What the agent needs on top of that. It is left out where there is no GitLab for it to work with. */
export function agentManifests(options: ManifestOptions = usualManifests): readonly KubeObject[] {
  const { places } = options;
  const { agents, ...usual } = places;
  const namespaces = Object.values(usual).includes(agents) ? [] : [namespaceObject(agents, true)];
  const policies = agentNetworkPolicies(places);
  return [...namespaces, ...coderRbac(places), ...ofStage("agent", options), ...policies].map(withOwnerLabel);
}

/** What the console needs on top. It is left out unless wanted, because it may act as any user. */
export function consoleManifests(options: ManifestOptions = usualManifests): readonly KubeObject[] {
  return [...ofStage("console", options), ...consoleNetworkPolicies(options.places)].map(withOwnerLabel);
}

function namespaceObject(name: string, runsWorkloads: boolean): KubeObject {
  const labels = runsWorkloads ? { labels: restrictedPods } : {};
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, ...labels } };
}

/** Where workflows and coders run, the API server refuses pods that ask for privileges. */
const restrictedPods = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/audit": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};

function ofStage(stage: StageName, options: ManifestOptions): readonly KubeObject[] {
  return [...stageRbac(stage, options.places), ...stageWorkload(stage, options)];
}

function withOwnerLabel(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [managedBy.label]: managedBy.value };
  return { ...object, metadata: { ...object.metadata, labels } };
}
