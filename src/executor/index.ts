export { type Executor, type ExecutorOptions, startExecutor } from "./controller.ts";
export type { PlanDefaults } from "./plan.ts";
export type { ExecutorSettings } from "./snapshot.ts";
