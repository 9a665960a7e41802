import { iso } from "../../kube/index.ts";
import { type ActionInputs, type Decision, defineAction, refuse, write } from "../action.ts";
import { actedBy, annotate, hasActed, observeTarget, type TargetSnapshot, updateTarget } from "../target-object.ts";
import { awaitRollout, type Rollout } from "./rollout.ts";

export const restartRollout = defineAction<TargetSnapshot<Rollout>>({
  name: "restart-rollout",
  version: "1.0.0",
  description:
    "Restarts all pods of a Deployment, StatefulSet or DaemonSet, a few at a time, according to its update strategy.",
  verification: "all pods run the restarted template and are available",
  targetKinds: ["deployment", "statefulset", "daemonset"],
  parameters: {},
  rights: ["deployment", "statefulset", "daemonset"].map((kind) => {
    return { group: "apps", resource: `${kind}s`, verbs: ["get", "update"], where: "target", onlyFor: kind } as const;
  }),
  alerts: ["KubeDeploymentReplicasMismatch", "KubeStatefulSetReplicasMismatch", "KubeDaemonSetRolloutStuck"],
  cooldown: "30m",
  observe: observeTarget,
  decide,
});

function decide({ target: rollout }: TargetSnapshot<Rollout>, inputs: ActionInputs): Decision {
  const { target, executionUid, nowMs } = inputs;
  if (!rollout) return refuse(`${target.text} does not exist`);
  if (rollout.spec.paused) return refuse(`${target.text} is paused: a restart would begin when it is resumed`);
  if (rollout.spec.updateStrategy?.type === "OnDelete") {
    return refuse(`${target.text} has the update strategy OnDelete: its pods are only replaced when they are deleted`);
  }
  if (!hasActed({ metadata: rollout.spec.template.metadata ?? {} }, executionUid)) {
    const next = withRestart(rollout, executionUid, iso(nowMs));
    return write(updateTarget(target, { observed: rollout, next, text: `restart ${target.text}` }));
  }
  return awaitRollout(target, rollout, `${target.text} was restarted`);
}

/** A changed annotation of the template makes the controller replace every pod; kubectl uses the same one. */
function withRestart(rollout: Rollout, executionUid: string, at: string): Rollout {
  const { template } = rollout.spec;
  const marks = { "kubectl.kubernetes.io/restartedAt": at, [actedBy]: executionUid };
  const metadata = annotate(template.metadata ?? {}, marks);
  return { ...rollout, spec: { ...rollout.spec, template: { ...template, metadata } } };
}
