import type { KubeObject } from "../kube/index.ts";
import { executionNamespace, managedBy } from "../resources/index.ts";
import { ackIdentity } from "./ack-identity.ts";
import { type StageName, stages } from "./permissions.ts";
import { type Places, rbacOf } from "./rbac.ts";
import { workloadOf } from "./workloads.ts";

export interface ManifestOptions {
  readonly image: string;
  readonly replicas: number;
  readonly places: Places;
}

export const usualManifests: ManifestOptions = {
  image: "interlock:latest",
  replicas: 2,
  places: { incidents: "kubernaut-system", locks: "kubernaut-system", runs: executionNamespace },
};

/** Everything that a cluster needs but the CRDs, by file. */
export function manifests(options: ManifestOptions = usualManifests): ReadonlyMap<string, readonly KubeObject[]> {
  const { places } = options;
  const namespaces = [...new Set(Object.values(places))].map(
    (name): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
  );
  const ofStage = (stage: StageName) => [...rbacOf(stage, places), ...workloadOf(stage, options)];
  const files: [string, readonly KubeObject[]][] = [
    ["namespaces", namespaces],
    ...stages.map((stage): [string, readonly KubeObject[]] => [stage, ofStage(stage)]),
    ["ack-identity", ackIdentity(places)],
  ];
  return new Map(files.map(([file, objects]) => [file, objects.map(marked)]));
}

function marked(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [managedBy.label]: managedBy.value };
  return { ...object, metadata: { ...object.metadata, labels } };
}
