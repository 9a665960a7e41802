/** The placeholders of `agent.command`. */
export interface Places {
  /** The folder with the files, which is also the working directory. */
  readonly workTree: string;
  /** A file with the request, which is also on standard input. */
  readonly requestFile: string;
}

/** Returns the command with `{workTree}` and `{requestFile}` filled in. No shell interprets the arguments. */
export function fillCommand(command: readonly string[], places: Places): readonly string[] {
  return command.map((argument) =>
    argument.replace(/\{(workTree|requestFile)\}/g, (_, name: keyof Places) => places[name]),
  );
}
