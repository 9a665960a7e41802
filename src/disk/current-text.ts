export interface CurrentTextOptions {
  readonly read: () => Promise<string>;
  /** How long the text is cached. */
  readonly freshForMs: number;
  /** Called with the reason when the file cannot be read, at most once per `freshForMs`. The message never contains the text. */
  readonly onProblem?: (problem: string) => void;
}

/** `refused`: the last text was rejected, so there may be a newer one. */
export interface Moment {
  readonly now: number;
  readonly refused: boolean;
}

/**
 * Text in a file that another process keeps current: read again when the cache is old, and at once when the text is refused.
 * A file that is being replaced may be missing or empty for a moment; the cached text stays valid until there is
 * something else. Rejects only if there was never anything.
 */
export function currentText({ read, freshForMs, onProblem }: CurrentTextOptions): (moment: Moment) => Promise<string> {
  let known: { readonly text: string; readonly readAt: number } | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function report(error: unknown, now: number) {
    if (now - reportedAt < freshForMs) return;
    reportedAt = now;
    onProblem?.(describeError(error));
  }

  return async ({ now, refused }) => {
    if (known && !refused && now - known.readAt < freshForMs) return known.text;
    try {
      known = { text: notBlank(await read()), readAt: now };
    } catch (error) {
      report(error, now);
      if (!known) throw error;
      known = { ...known, readAt: now };
    }
    return known.text;
  };
}

/** The code of a system error, such as `ENOENT`, or the message of any other error. */
export function describeError(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}

function notBlank(text: string): string {
  if (text.trim() === "") throw new Error("it is empty");
  return text.trim();
}
