/** A command cannot do what was asked. The message is for whoever typed it. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
