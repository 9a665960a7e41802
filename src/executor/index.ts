export { type Executor, type ExecutorOptions, startExecutor } from "./controller.ts";
