export {
  Controller,
  type ControllerEvents,
  type ControllerOptions,
  type KeySource,
  keysFrom,
  onlySynced,
  type Skipped,
  type StallWatch,
  type StopOptions,
} from "./controller.ts";
export { type ControllerGroup, controllerGroup, type RunningControllers } from "./controller-group.ts";
export { type Decision, decision, nothing, requeueAfter, requeueAt, soonest } from "./decision.ts";
export { type Informer, type InformerOptions, informer } from "./informer.ts";
export type { ChangeEvent, ChangeHandler, IndexFunction } from "./object-cache.ts";
export { labelKey, objectKey, refOfKey } from "./object-key.ts";
export { stalledCondition } from "./only-stall-change.ts";
export { OwnWrites } from "./own-writes.ts";
export type { Problem, ProblemKind, ReportProblem } from "./problem.ts";
export { lostEventMs, type Performed, type ReconcileSteps, reconcile, reconcileCached } from "./reconcile.ts";
export { type Mirror, Reflector } from "./reflector.ts";
export { type WorkOutcome, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";
export { deleteExactly, iso, writeStatus } from "./writes.ts";
