export type { PlanDefaults } from "./admission/plan.ts";
export { type Executor, type ExecutorOptions, startExecutor } from "./controller.ts";
export type { ExecutorSettings } from "./snapshot.ts";
