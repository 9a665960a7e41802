export interface CurrentTextOptions {
  readonly read: () => Promise<string>;
  /** How long the text is cached. */
  readonly freshForMs: number;
  /** Called with the reason when the file cannot be read, at most once per `freshForMs`. The message never contains the text. */
  readonly onProblem?: (problem: string) => void;
}

export interface TextRequest {
  readonly now: number;
  /** Whether the last text was rejected, so that there may be a newer one. */
  readonly refused: boolean;
}

/**
 * Text in a file that another process keeps current: read again when the cache is old, and at once when the text was refused.
 * A file that is being replaced may be missing or empty for a moment: then the cached text is returned. Rejects only while no
 * text was ever read.
 */
export function currentText({
  read,
  freshForMs,
  onProblem,
}: CurrentTextOptions): (request: TextRequest) => Promise<string> {
  let cached: { readonly text: string; readonly readAt: number } | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function report(error: unknown, now: number) {
    if (now - reportedAt < freshForMs) return;
    reportedAt = now;
    onProblem?.(describeError(error));
  }

  return async ({ now, refused }) => {
    if (cached && !refused && now - cached.readAt < freshForMs) return cached.text;
    try {
      cached = { text: notBlank(await read()), readAt: now };
    } catch (error) {
      report(error, now);
      if (!cached) throw error;
      cached = { ...cached, readAt: now };
    }
    return cached.text;
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

/** Handles the error of a read: returns `instead` if the file or directory does not exist; any other error is thrown. */
export function ifMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return instead;
    throw error;
  };
}
