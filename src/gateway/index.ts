export type { Admission } from "./admission.ts";
export { type FileOccurrenceLogOptions, openFileOccurrenceLog } from "./counts/file-occurrence-log.ts";
export type { OccurrenceLog } from "./counts/tally.ts";
export { type Gateway, type GatewayOptions, type GatewaySettings, startGateway } from "./gateway.ts";
export type { GatewayErrorCode } from "./gateway-error.ts";
export { canPost } from "./http/attribute-source.ts";
export type { SignalRoute, SignedBody } from "./http/authenticate.ts";
export { parseSenderLines } from "./http/sender-lines.ts";
export { Senders, type SendersOptions } from "./http/senders.ts";
export {
  type GatewayServer,
  type ServerOptions,
  serveGateway,
} from "./http/server.ts";
export { listBuiltInSources, type ServerLimits } from "./http/signal-routes.ts";
export type { TaskRoute } from "./http/task-route.ts";
