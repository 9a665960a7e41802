export { type PageRequest, type Projection, RequestError, type StreamRequest } from "./projection.ts";
