export type { Admission } from "./admission.ts";
export { type FileJournalOptions, openFileJournal } from "./file/file-journal.ts";
export { type Gateway, type GatewayOptions, type GatewaySettings, startGateway } from "./gateway.ts";
export { GatewayError, type GatewayErrorCode } from "./gateway-error.ts";
export { type Certificate, openCertificate } from "./http/certificate.ts";
export { Senders, type SendersOptions } from "./http/senders.ts";
export {
  type GatewayServer,
  type ServerLimits,
  type ServerOptions,
  serveGateway,
} from "./http/server.ts";
export type { SignalRoute, SignedBody } from "./http/signal-route.ts";
export type { TaskRoute } from "./http/task-route.ts";
export type { OccurrenceJournal } from "./occurrence-journal.ts";
export { type TaskAdmission, type TaskDesk, type TaskDeskOptions, taskDesk } from "./task-desk.ts";
