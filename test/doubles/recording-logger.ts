import type { Logger, LogLevel } from "../../src/telemetry/index.ts";

export interface LoggedEvent {
  readonly level: LogLevel;
  readonly event: string;
  /** As they were given. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface RecordingLogger extends Logger {
  /** Everything logged so far, in order. */
  readonly events: readonly LoggedEvent[];
  forget(): void;
}

/** A logger that stores its lines. */
export function recordingLogger(): RecordingLogger {
  const events: LoggedEvent[] = [];
  const log = (level: LogLevel) => (event: string, fields?: object) => {
    events.push({ level, event, fields: { ...fields } });
  };
  return {
    debug: log("debug"),
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    events,
    forget() {
      events.length = 0;
    },
  };
}
