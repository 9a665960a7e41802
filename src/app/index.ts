export { type Coordination, type CoordinationOptions, openCoordination } from "./coordination.ts";
