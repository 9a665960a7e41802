import type { Desk } from "./command.ts";
import type { CommandContext, DeskOptions } from "./context.ts";

/** Opens what commands work with. Nothing is opened, or even imported, for the help. */
export interface Environments {
  inContext: Within<CommandContext>;
  atDesk: Within<Desk>;
}

/** Opens the environment that `options` name, and has `work` done in it. */
export type Within<Environment> = (
  options: DeskOptions,
  work: (environment: Environment) => Promise<number | undefined>,
) => Promise<number | undefined>;
