/**
 * What a call to somebody else's server came to, if not to an answer:
 * - `unavailable`: it did not answer, or said that it cannot just now; trying again may help
 * - `denied`: our token is not good enough, or no longer
 * - `missing`: what we asked about is not there, or is not shown to us
 * - `refused`: it was understood and declined; the same call will be declined again
 */
export type RemoteErrorKind = "unavailable" | "denied" | "missing" | "refused";

/** A failed call to GitLab, Jira or a Git server. The message is for people, and holds no secret. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly kind: RemoteErrorKind;
  readonly status: number | undefined;
  /** When the server wants to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: RemoteErrorKind, message: string, details: { status?: number; retryAfterMs?: number } = {}) {
    super(message);
    this.kind = kind;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

export function isRemoteError(error: unknown, kind?: RemoteErrorKind): error is RemoteError {
  return error instanceof RemoteError && (kind === undefined || error.kind === kind);
}
