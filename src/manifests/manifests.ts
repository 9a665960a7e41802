import type { KubeObject } from "../kube/index.ts";
import { executionNamespace, managedBy } from "../resources/index.ts";
import { ackIdentity, approvalIdentity, resumeIdentity } from "./identity.ts";
import { type StageName, stages } from "./permissions.ts";
import { coderRbac, type Places, rbacOf } from "./rbac.ts";
import { workloadOf } from "./workloads.ts";

export interface ManifestOptions {
  readonly image: string;
  readonly replicas: number;
  readonly places: Places;
}

export const usualManifests: ManifestOptions = {
  image: "interlock:latest",
  replicas: 2,
  places: {
    incidents: "kubernaut-system",
    locks: "kubernaut-system",
    runs: executionNamespace,
    agents: "kubernaut-agents",
  },
};

/** Everything that a cluster needs but the CRDs and the coding agent, by file. */
export function manifests(options: ManifestOptions = usualManifests): ReadonlyMap<string, readonly KubeObject[]> {
  const { places } = options;
  const { agents: _, ...usual } = places;
  const files: [string, readonly KubeObject[]][] = [
    ["namespaces", [...new Set(Object.values(usual))].map(namespaceOf)],
    ...stages
      .filter((stage) => stage !== "agent")
      .map((stage): [string, readonly KubeObject[]] => [stage, ofStage(stage, options)]),
    ["identity", [...ackIdentity(places), ...approvalIdentity(places), ...resumeIdentity()]],
  ];
  return new Map(files.map(([file, objects]) => [file, objects.map(marked)]));
}

/** What the coding agent needs on top of that. It is left out where there is no GitLab for it to work with. */
export function agentManifests(options: ManifestOptions = usualManifests): readonly KubeObject[] {
  const { places } = options;
  const { agents, ...usual } = places;
  const namespaces = Object.values(usual).includes(agents) ? [] : [namespaceOf(agents)];
  return [...namespaces, ...coderRbac(places), ...ofStage("agent", options)].map(marked);
}

function namespaceOf(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

function ofStage(stage: StageName, options: ManifestOptions): readonly KubeObject[] {
  return [...rbacOf(stage, options.places), ...workloadOf(stage, options)];
}

function marked(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [managedBy.label]: managedBy.value };
  return { ...object, metadata: { ...object.metadata, labels } };
}
