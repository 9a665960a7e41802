import type { KubeObject, ResourceType } from "../../kube/index.ts";
import { type ActionInputs, type Decision, defineAction, done, type Reader, refuse, write } from "../action.ts";
import { actedBy, annotate, hasActed, readTarget, updateTarget } from "../target-object.ts";
import { awaitRollout, type Rollout } from "./rollout.ts";

interface Autoscaler extends KubeObject {
  readonly spec: {
    readonly maxReplicas: number;
    readonly minReplicas?: number;
    readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
  };
}

interface Snapshot {
  readonly target: Rollout | Autoscaler | undefined;
  /** Of the namespace. */
  readonly autoscalers: readonly Autoscaler[];
}

const autoscalerType: ResourceType<Autoscaler> = {
  apiVersion: "autoscaling/v1",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
};

const autoscalerKind = "horizontalpodautoscaler";

export const scale = defineAction<Snapshot>({
  name: "scale",
  version: "1.0.0",
  description:
    "Changes the replicas of a Deployment or StatefulSet, or the maximum of a HorizontalPodAutoscaler, by a step within limits.",
  verification: "all replicas are ready, or the autoscaler has the new maximum",
  targetKinds: ["deployment", "statefulset", autoscalerKind],
  parameters: {
    by: {
      type: "integer",
      default: 1,
      minimum: -10,
      maximum: 10,
      description: "How many replicas to add, or with a minus sign to remove.",
    },
    min: { type: "integer", default: 1, minimum: 0, maximum: 1_000, description: "Never fewer replicas than this." },
    max: { type: "integer", default: 10, minimum: 1, maximum: 1_000, description: "Never more replicas than this." },
  },
  rights: [
    { group: "apps", resource: "deployments", verbs: ["get", "update"], where: "target", onlyFor: "deployment" },
    { group: "apps", resource: "statefulsets", verbs: ["get", "update"], where: "target", onlyFor: "statefulset" },
    { group: "autoscaling", resource: "horizontalpodautoscalers", verbs: ["list"], where: "target" },
    {
      group: "autoscaling",
      resource: "horizontalpodautoscalers",
      verbs: ["get", "update"],
      where: "target",
      onlyFor: autoscalerKind,
    },
  ],
  alerts: ["KubeHpaMaxedOut"],
  cooldown: "15m",
  observe,
  decide,
});

async function observe({ target }: ActionInputs, reader: Reader): Promise<Snapshot> {
  const object = await readTarget<Rollout | Autoscaler>(target, reader);
  const { items } = await reader.list(autoscalerType, { namespace: target.namespace ?? "" });
  return { target: object, autoscalers: items };
}

function decide({ target: object, autoscalers }: Snapshot, inputs: ActionInputs): Decision {
  const { target, executionUid, parameters } = inputs;
  if (!object) return refuse(`${target.text} does not exist`);
  if (hasActed(object, executionUid)) return verify(object, inputs);
  const autoscaler = autoscalers.find(({ spec: { scaleTargetRef: ref } }) => {
    return ref?.kind?.toLowerCase() === target.kind && ref.name === target.name;
  });
  if (autoscaler) return refuse(`${target.text} is scaled by the autoscaler ${autoscaler.metadata.name}: scale that`);

  const { by, min, max } = parameters as { readonly by: number; readonly min: number; readonly max: number };
  const current = currentSize(object);
  if (by > 0 ? current >= max : current <= min) {
    return refuse(`${target.text} has ${current}, and the limit is ${by > 0 ? max : min}`);
  }
  const size = Math.min(max, Math.max(min, current + by));
  const metadata = annotate(object.metadata, { [actedBy]: executionUid });
  const spec = { ...object.spec, [isAutoscaler(object) ? "maxReplicas" : "replicas"]: size };
  const next = { ...object, metadata, spec };
  const text = `scale ${target.text} from ${current} to ${size}`;
  return write(updateTarget(target, { observed: object, next, text }));
}

function verify(object: Rollout | Autoscaler, { target }: ActionInputs): Decision {
  const scaled = `${target.text} was scaled to ${currentSize(object)}`;
  return isAutoscaler(object) ? done(scaled) : awaitRollout(target, object, scaled);
}

function isAutoscaler(object: Rollout | Autoscaler): object is Autoscaler {
  return "maxReplicas" in object.spec;
}

function currentSize(object: Rollout | Autoscaler): number {
  return isAutoscaler(object) ? object.spec.maxReplicas : (object.spec.replicas ?? 1);
}
