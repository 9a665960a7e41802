import type { KubeObject } from "../kube/index.ts";
import { executionNamespace, managedBy } from "../resources/index.ts";
import { ackIdentity, approvalIdentity, resumeIdentity } from "./identity.ts";
import { agentNetworkPolicies, consoleNetworkPolicies, networkPolicies } from "./network.ts";
import { type StageName, stages } from "./permissions.ts";
import { coderRbac, stageRbac } from "./rbac.ts";
import { type ManifestOptions, policyConfig, stageWorkload } from "./workloads.ts";

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

/** All objects except the CRDs, the agent and the console, by file. */
export function manifests(options: ManifestOptions = usualManifests): ReadonlyMap<string, readonly KubeObject[]> {
  const { places } = options;
  const { agents: _, ...usual } = places;
  const files: [string, readonly KubeObject[]][] = [
    ["namespaces", [...new Set(Object.values(usual))].map((name) => namespaceObject(name, name === places.runs))],
    ...stages
      .filter((stage) => stage !== "agent" && stage !== "console")
      .map((stage): [string, readonly KubeObject[]] => [stage, stageObjects(stage, options)]),
    ["policy", [policyConfig(places)]],
    ["network", networkPolicies(places)],
    ["identity", [...ackIdentity(places), ...approvalIdentity(places), ...resumeIdentity()]],
  ];
  return new Map(files.map(([file, objects]) => [file, objects.map(withOwnerLabel)]));
}

/** The objects of the agent, which needs a GitLab. */
export function agentManifests(options: ManifestOptions = usualManifests): readonly KubeObject[] {
  const { places } = options;
  const { agents, ...usual } = places;
  const namespaces = Object.values(usual).includes(agents) ? [] : [namespaceObject(agents, true)];
  const policies = agentNetworkPolicies(places);
  return [...namespaces, ...coderRbac(places), ...stageObjects("agent", options), ...policies].map(withOwnerLabel);
}

/** The objects of the console. They are optional, because its service account may act as any user. */
export function consoleManifests(options: ManifestOptions = usualManifests): readonly KubeObject[] {
  return [...stageObjects("console", options), ...consoleNetworkPolicies(options.places)].map(withOwnerLabel);
}

function namespaceObject(name: string, runsWorkloads: boolean): KubeObject {
  const labels = runsWorkloads ? { labels: restrictedPods } : {};
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, ...labels } };
}

/** In the namespaces of workflows and coders, the API server rejects privileged pods. */
const restrictedPods = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/audit": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};

function stageObjects(stage: StageName, options: ManifestOptions): readonly KubeObject[] {
  return [...stageRbac(stage, options.places), ...stageWorkload(stage, options)];
}

function withOwnerLabel(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [managedBy.label]: managedBy.value };
  return { ...object, metadata: { ...object.metadata, labels } };
}
