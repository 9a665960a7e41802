export interface CurrentTextOptions {
  readonly read: () => Promise<string>;
  /** How long what was read is good. */
  readonly freshForMs: number;
  /** Told why nothing could be read, not more often than things are fresh. What was read is not repeated. */
  readonly trouble?: (problem: string) => void;
}

/** `refused`: what was given last is taken no more, so there may be something newer. */
export interface Moment {
  readonly now: number;
  readonly refused: boolean;
}

/**
 * Text in a file that somebody else keeps current: read again when it is no longer fresh, and at once when it is refused.
 * A file that is being replaced may be missing or empty for a moment; what was read before stays good until there is
 * something else. Rejects only if there was never anything.
 */
export function currentText({ read, freshForMs, trouble }: CurrentTextOptions): (moment: Moment) => Promise<string> {
  let known: { readonly text: string; readonly readAt: number } | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;

  function tell(error: unknown, now: number) {
    if (now - toldAt < freshForMs) return;
    toldAt = now;
    trouble?.(problemOf(error));
  }

  return async ({ now, refused }) => {
    if (known && !refused && now - known.readAt < freshForMs) return known.text;
    try {
      known = { text: notBlank(await read()), readAt: now };
    } catch (error) {
      tell(error, now);
      if (!known) throw error;
      known = { ...known, readAt: now };
    }
    return known.text;
  };
}

/** `ENOENT`, or what else it is. */
export function problemOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}

function notBlank(text: string): string {
  if (text.trim() === "") throw new Error("it is empty");
  return text.trim();
}
