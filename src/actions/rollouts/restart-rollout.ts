import { iso } from "../../kube/index.ts";
import { type ActionInputs, type Decision, defineAction, done, refuse, wait, write } from "../action.ts";
import { actedBy, annotate, hasActed, readTarget, targetType } from "../target-object.ts";
import { type Rollout, rolloutState } from "./rollout.ts";

interface Snapshot {
  readonly target: Rollout | undefined;
}

export const restartRollout = defineAction<Snapshot>({
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
  observe: async ({ target }, reader) => ({ target: await readTarget<Rollout>(target, reader) }),
  decide,
});

function decide({ target: rollout }: Snapshot, inputs: ActionInputs): Decision {
  const { target, executionUid, nowMs } = inputs;
  if (!rollout) return refuse(`${target.text} does not exist`);
  if (rollout.spec.paused) return refuse(`${target.text} is paused: a restart would begin when it is resumed`);
  if (rollout.spec.updateStrategy?.type === "OnDelete") {
    return refuse(`${target.text} has the update strategy OnDelete: its pods are not restarted by themselves`);
  }
  if (!hasActed({ metadata: rollout.spec.template.metadata ?? {} }, executionUid)) {
    return write({
      do: "update",
      type: targetType(target),
      observed: rollout,
      next: withRestart(rollout, executionUid, iso(nowMs)),
      text: `restart ${target.text}`,
    });
  }
  const state = rolloutState(target.kind, rollout);
  if (state.kind === "stuck") return refuse(`${target.text} was restarted, but ${state.message}`);
  return state.kind === "complete" ? done(`${target.text} was restarted`) : wait(state.message);
}

/** A changed annotation of the template makes the controller replace every pod; kubectl uses the same one. */
function withRestart(rollout: Rollout, executionUid: string, at: string): Rollout {
  const { template } = rollout.spec;
  const marks = { "kubectl.kubernetes.io/restartedAt": at, [actedBy]: executionUid };
  const metadata = annotate(template.metadata ?? {}, marks);
  return { ...rollout, spec: { ...rollout.spec, template: { ...template, metadata } } };
}
