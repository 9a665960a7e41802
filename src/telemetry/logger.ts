/**
 * Writes log events. `event` is constant, lower case and names the event; everything variable is a field:
 * `log.warn("lease lost", { key, holder, fence })`. Logging never throws.
 */
export interface Logger {
  /** For the author. */
  debug(event: string, fields?: object): void;
  /** State changed. */
  info(event: string, fields?: object): void;
  /** A problem was handled. */
  warn(event: string, fields?: object): void;
  /** An operator should look. */
  error(event: string, fields?: object): void;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};
