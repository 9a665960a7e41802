export { ackCommand, ackUsage } from "./ack.ts";
export { type ApiArguments, apiUsage, readApiArguments } from "./api.ts";
export { CommandError } from "./command-error.ts";
export { logsCommand, logsUsage } from "./logs.ts";
export { runCommand, runUsage } from "./run.ts";
export type { Terminal } from "./terminal.ts";
export { whyCommand, whyUsage } from "./why.ts";
