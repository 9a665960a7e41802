export { type Coordination, type CoordinationOptions, openCoordination } from "./coordination.ts";
export { type EmbeddedApi, type EmbeddedApiOptions, startEmbeddedApi } from "./embedded-api.ts";
export { type ExecutorProcessOptions, openExecutor, type Stage } from "./executor.ts";
export { failAt } from "./fail-at.ts";
export { type Objects, type ObjectsOptions, openObjects } from "./objects.ts";
export { openClient } from "./open-client.ts";
export { prepare } from "./prepare.ts";
export { loadCatalog, startUp, type Up, type UpOptions } from "./up.ts";
