import type { Action } from "./action.ts";
import { openIssue } from "./issues/open-issue.ts";
import { restartJob } from "./jobs/restart-job.ts";
import { cleanNodeDisk } from "./nodes/clean-node-disk.ts";
import { cordonNode, uncordonNode } from "./nodes/cordon-node.ts";
import { drainNode } from "./nodes/drain-node.ts";
import { deleteStuckPod } from "./pods/delete-stuck-pod.ts";
import { restartRollout } from "./rollouts/restart-rollout.ts";
import { rollBackRollout } from "./rollouts/roll-back-rollout.ts";
import { scale } from "./rollouts/scale.ts";
import { expandVolumeClaim } from "./storage/expand-volume-claim.ts";

/** All ready-made actions, in the order of the documentation. */
export const actions: readonly Action[] = [
  restartRollout,
  rollBackRollout,
  scale,
  deleteStuckPod,
  cordonNode,
  drainNode,
  uncordonNode,
  cleanNodeDisk,
  expandVolumeClaim,
  restartJob,
  openIssue,
];
