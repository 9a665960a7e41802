export { type CatalogReading, readCatalog } from "./catalog/read-catalog.ts";
export { readWorkflowFile, type WorkflowFile, type WorkflowReading } from "./catalog/read-workflow-file.ts";
export { type CatalogStep, storeCatalog } from "./catalog/store-catalog.ts";
export type { Engine, PreparedRun, RunFailure, RunOrder, RunProgress, RunState } from "./engine.ts";
export { jobEngine } from "./job/job-engine.ts";
export { type RunOwner, runOwner } from "./run-marks.ts";
export { tektonEngine } from "./tekton/tekton-engine.ts";
