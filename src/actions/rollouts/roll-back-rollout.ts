import type { KubeObject, ResourceType } from "../../kube/index.ts";
import { type ActionInputs, type Decision, defineAction, type Reader, refuse, write } from "../action.ts";
import { actedBy, annotate, hasActed, readTarget, updateTarget } from "../target-object.ts";
import { awaitRollout, type Rollout } from "./rollout.ts";

/** One revision of a Deployment. */
type ReplicaSet = KubeObject & Pick<Rollout, "spec">;

interface Snapshot {
  readonly target: Rollout | undefined;
  readonly replicaSets: readonly ReplicaSet[];
}

const replicaSetType: ResourceType<ReplicaSet> = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};

const revisionAnnotation = "deployment.kubernetes.io/revision";

export const rollBackRollout = defineAction<Snapshot>({
  name: "roll-back-rollout",
  version: "1.0.0",
  description: "Rolls a Deployment back to its previous revision, as kubectl rollout undo does.",
  verification: "all pods run the earlier template and are available",
  targetKinds: ["deployment"],
  parameters: {
    toRevision: {
      type: "integer",
      default: 0,
      minimum: 0,
      description: "The revision to return to; 0 is the one before the current.",
    },
  },
  rights: [
    { group: "apps", resource: "deployments", verbs: ["get", "update"], where: "target" },
    { group: "apps", resource: "replicasets", verbs: ["list"], where: "target" },
  ],
  alerts: ["KubeDeploymentRolloutStuck", "KubeDeploymentGenerationMismatch"],
  cooldown: "1h",
  observe,
  decide,
});

async function observe({ target }: ActionInputs, reader: Reader): Promise<Snapshot> {
  const deployment = await readTarget<Rollout>(target, reader);
  if (!deployment) return { target: undefined, replicaSets: [] };
  const { items } = await reader.list(replicaSetType, { namespace: target.namespace ?? "" });
  const { uid } = deployment.metadata;
  const own = items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  return { target: deployment, replicaSets: own };
}

function decide({ target: deployment, replicaSets }: Snapshot, inputs: ActionInputs): Decision {
  const { target, executionUid, parameters } = inputs;
  if (!deployment) return refuse(`${target.text} does not exist`);
  if (deployment.spec.paused) return refuse(`${target.text} is paused: resume it first`);
  if (!hasActed(deployment, executionUid)) {
    const earlier = findRevision(deployment, replicaSets, Number(parameters["toRevision"]));
    if (!earlier) return refuse(`${target.text} has no such earlier revision`);
    const next = withTemplate(deployment, earlier, executionUid);
    const text = `roll ${target.text} back to revision ${revision(earlier)}`;
    return write(updateTarget(target, { observed: deployment, next, text }));
  }
  return awaitRollout(target, deployment, `${target.text} was rolled back`);
}

/** The ReplicaSet of `wanted`, or with 0 of the latest revision before the current one. */
function findRevision(deployment: Rollout, replicaSets: readonly ReplicaSet[], wanted: number): ReplicaSet | undefined {
  const current = revision(deployment);
  const earlier = replicaSets
    .filter((one) => revision(one) > 0 && revision(one) < current)
    .sort((a, b) => revision(b) - revision(a));
  return wanted === 0 ? earlier[0] : earlier.find((one) => revision(one) === wanted);
}

function revision({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0);
}

/** The label is the controller's own: it belongs to one ReplicaSet, not to the template. */
const templateHash = "pod-template-hash";

function withTemplate(deployment: Rollout, { spec }: ReplicaSet, executionUid: string): Rollout {
  const { [templateHash]: _, ...labels } = spec.template.metadata?.labels ?? {};
  const template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
  return {
    ...deployment,
    metadata: annotate(deployment.metadata, { [actedBy]: executionUid }),
    spec: { ...deployment.spec, template },
  };
}
