/** What a command has besides its arguments. */
export interface Terminal {
  print(line: string): void;
  /** Letters and digits for a name that nobody else has. */
  id(): string;
  /** Who is at the keyboard, as far as the machine knows. */
  readonly user: string;
}
