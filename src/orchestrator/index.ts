export type { Analyzer } from "./analyzer.ts";
export { type Orchestrator, type OrchestratorOptions, startOrchestrator } from "./controller.ts";
export type { OrchestratorSettings } from "./settings.ts";
