/** What an argument of the agent's command may refer to. */
export interface Places {
  /** The folder with the files. It is also where the command is started. */
  readonly workTree: string;
  /** A file with what it also gets on its standard input. */
  readonly requestFile: string;
}

/** The command with `{workTree}` and `{requestFile}` filled in. Arguments stay arguments: no shell sees them. */
export function fillCommand(command: readonly string[], places: Places): readonly string[] {
  return command.map((argument) =>
    argument.replace(/\{(workTree|requestFile)\}/g, (_, name: keyof Places) => places[name]),
  );
}
