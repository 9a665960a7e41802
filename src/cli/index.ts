export type { ServerContext } from "./command.ts";
export type { CommandContext, Contexts } from "./context.ts";
export { printTo, type Terminal } from "./output/terminal.ts";
export { createProgram, interlock } from "./program.ts";
