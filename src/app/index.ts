export { type Coordination, type CoordinationOptions, openCoordination } from "./coordination.ts";
export { type EmbeddedApi, type EmbeddedApiOptions, startEmbeddedApi } from "./embedded-api.ts";
