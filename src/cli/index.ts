export type { Desk } from "./command.ts";
export { ack } from "./commands/ack.ts";
export { approve, reject } from "./commands/approve.ts";
export { cancel } from "./commands/cancel.ts";
export { commands } from "./commands/index.ts";
export { pause } from "./commands/pause.ts";
export { resume } from "./commands/resume.ts";
export { why } from "./commands/why/why.ts";
export { printTo, type Terminal } from "./output/terminal.ts";
