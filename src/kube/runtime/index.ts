export {
  Controller,
  type ControllerEvents,
  type ControllerOptions,
  type KeySource,
  keysFrom,
  type StallWatch,
  type StopOptions,
} from "./controller.ts";
export { type Informer, type InformerOptions, informer } from "./informer.ts";
export type { ChangeEvent, ChangeHandler, IndexFunction } from "./object-cache.ts";
export { objectKey, refOfKey } from "./object-key.ts";
export { stalledCondition } from "./only-stall-change.ts";
export { OwnWrites } from "./own-writes.ts";
export type { Problem, ProblemKind, ReportProblem } from "./problem.ts";
export { type WorkOutcome, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";
