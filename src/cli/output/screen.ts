/** Where text is written: a terminal, a file or a pipe. */
export interface Screen {
  write(text: string): void;
  /** Whether this is a terminal, which obeys escapes. */
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
  /** The width of the terminal; 80 if it is not known. */
  readonly columns?: () => number;
}
