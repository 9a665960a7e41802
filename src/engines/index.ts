export type { Engine, PreparedRun, RunFailure, RunOrder, RunProgress, RunState } from "./engine.ts";
