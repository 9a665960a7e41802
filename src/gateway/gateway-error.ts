/**
 * - `unavailable`: a backend did not respond or was busy; the sender may safely retry
 * - `forbidden`: the gateway may not read the object that the signal is about; the message has the fix
 * - `sender-limit`, `total-limit`: too many incidents are open, of this sender or of all; the sender may retry later
 * - `closed`: the gateway shuts down; another one can take the signal
 */
type GatewayErrorCode = "unavailable" | "forbidden" | "sender-limit" | "total-limit" | "closed";

/** A valid signal was not admitted. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: GatewayErrorCode;

  constructor(code: GatewayErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a signal was not admitted because too many incidents are open. */
export function isLimit(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (error.code === "sender-limit" || error.code === "total-limit");
}
