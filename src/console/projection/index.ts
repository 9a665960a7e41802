export { openProjection, type ProjectionOptions } from "./open-projection.ts";
export { type PageRequest, type Projection, RequestError, type StreamRequest } from "./projection.ts";
