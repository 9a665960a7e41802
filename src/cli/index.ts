export { cliPage } from "./cli-page.ts";
export type { Desk } from "./command.ts";
export type { CommandContext, Environments } from "./context.ts";
export { printTo, type Terminal } from "./output/terminal.ts";
export { createProgram, interlock } from "./program.ts";
