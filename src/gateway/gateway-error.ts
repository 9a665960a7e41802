/**
 * - `unavailable`: something we need did not answer, or was busy; posting the signal again is harmless
 * - `forbidden`: the gateway may not read the object that the signal is about; the message has the fix
 * - `sender-limit`, `total-limit`: too many incidents are open, of this sender or of all; later there may be room again
 * - `closed`: the gateway is going away; another one, or the next, will take the signal
 */
export type GatewayErrorCode = "unavailable" | "forbidden" | "sender-limit" | "total-limit" | "closed";

/** A signal was not admitted, for no fault of its own. */
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
