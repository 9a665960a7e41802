export type { Engine, PreparedRun, RunFailure, RunOrder, RunProgress, RunState } from "./engine.ts";
export { jobEngine } from "./job/job-engine.ts";
export { type RunOwner, runOwner } from "./run-marks.ts";
export { tektonEngine } from "./tekton/tekton-engine.ts";
