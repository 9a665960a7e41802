/**
 * The kind of a failed call to a remote server:
 * - `unavailable`: no response, or a temporary error; a retry may help
 * - `denied`: our token is rejected, or has too few rights
 * - `missing`: the object does not exist, or is hidden from us
 * - `refused`: the request is rejected; a retry gets the same response
 */
export type RemoteErrorKind = "unavailable" | "denied" | "missing" | "refused";

/** A failed call to GitLab, Jira or a Git server. The message is shown to people and contains no secret. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly kind: RemoteErrorKind;
  readonly status: number | undefined;
  /** The delay that the server asks for. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: RemoteErrorKind, message: string, details: { status?: number; retryAfterMs?: number } = {}) {
    super(message);
    // The message explains the failure; in a log, the stack of our client only hides it.
    this.stack = "";
    this.kind = kind;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Resolves to undefined if the requested object does not exist. */
export async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isRemoteError(error, "missing")) return undefined;
    throw error;
  }
}

export function isRemoteError(error: unknown, kind?: RemoteErrorKind): error is RemoteError {
  return error instanceof RemoteError && (kind === undefined || error.kind === kind);
}
