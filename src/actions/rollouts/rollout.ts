import type { KubeObject } from "../../kube/index.ts";
import type { ObjectTarget } from "../../resources/index.ts";
import { type Decision, done, refuse, wait } from "../action.ts";

/** The fields of a Deployment, StatefulSet or DaemonSet that actions read and write. */
export interface Rollout extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly updateStrategy?: { readonly type?: string };
    readonly template: { readonly metadata?: KubeObject["metadata"]; readonly spec?: object };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

export type RolloutState =
  | { readonly kind: "complete" }
  | { readonly kind: "progressing"; readonly message: string }
  | { readonly kind: "stuck"; readonly message: string };

/** Waits until a changed rollout is complete. `change`: the change as a sentence, such as "a/deployment/b was restarted". */
export function awaitRollout({ kind }: ObjectTarget, rollout: Rollout, change: string): Decision {
  const state = rolloutState(kind, rollout);
  switch (state.kind) {
    case "complete":
      return done(change);
    case "progressing":
      return wait(state.message);
    case "stuck":
      return refuse(`${change}, but ${state.message}`);
  }
}

/** Returns the progress of a rollout by the rules of `kubectl rollout status`. `kind`: the kind of the target in lower case. */
export function rolloutState(kind: string, rollout: Rollout): RolloutState {
  const { metadata, status = {} } = rollout;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    return progressingState("the controller has not observed the change yet");
  }
  switch (kind) {
    case "daemonset":
      return daemonSetState(status);
    case "statefulset":
      return statefulSetState(rollout, status);
    default:
      return deploymentState(rollout, status);
  }
}

type Status = NonNullable<Rollout["status"]>;

function deploymentState({ spec }: Rollout, status: Status): RolloutState {
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = status;
  const progress = conditions.find(({ type }) => type === "Progressing");
  if (progress?.reason === "ProgressDeadlineExceeded") {
    return { kind: "stuck", message: "the rollout exceeded its progress deadline" };
  }
  const wanted = spec.replicas ?? 1;
  if (updatedReplicas < wanted) return progressingState(`${updatedReplicas} of ${wanted} replicas are updated`);
  if (replicas > updatedReplicas) return progressingState(`${replicas - updatedReplicas} old replicas are still there`);
  if (availableReplicas < updatedReplicas) {
    return progressingState(`${availableReplicas} of ${updatedReplicas} updated replicas are available`);
  }
  return { kind: "complete" };
}

function statefulSetState({ spec }: Rollout, status: Status): RolloutState {
  const wanted = spec.replicas ?? 1;
  const { readyReplicas = 0, currentRevision, updateRevision } = status;
  if (readyReplicas < wanted) return progressingState(`${readyReplicas} of ${wanted} replicas are ready`);
  if (currentRevision !== updateRevision) return progressingState("not all replicas are updated");
  return { kind: "complete" };
}

function daemonSetState(status: Status): RolloutState {
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = status;
  if (updatedNumberScheduled < desiredNumberScheduled) {
    return progressingState(`${updatedNumberScheduled} of ${desiredNumberScheduled} pods are updated`);
  }
  if (numberAvailable < desiredNumberScheduled) {
    return progressingState(`${numberAvailable} of ${desiredNumberScheduled} pods are available`);
  }
  return { kind: "complete" };
}

function progressingState(message: string): RolloutState {
  return { kind: "progressing", message };
}
