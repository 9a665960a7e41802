// A module of its own, so that commands without metrics do not load the library.
export { promMetrics } from "../telemetry/index.ts";
