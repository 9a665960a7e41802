export { type Orchestrator, type OrchestratorOptions, startOrchestrator } from "./controller.ts";
export type { Analyzer } from "./incidents/analyzer.ts";
export type { OrchestratorSettings } from "./settings.ts";
