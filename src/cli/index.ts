export { cliPage } from "./cli-page.ts";
export type { Desk } from "./command.ts";
export type { CommandContext } from "./context.ts";
export type { Environments } from "./environments.ts";
export { printTo, type Terminal } from "./output/terminal.ts";
export { createProgram, interlock } from "./program.ts";
