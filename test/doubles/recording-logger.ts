import type { Logger, LogLevel } from "../../src/telemetry/index.ts";

export interface LoggedEvent {
  readonly level: LogLevel;
  readonly event: string;
  /** Those of the event and of the child loggers it came through, as they were given. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface RecordingLogger extends Logger {
  /** Everything logged so far, by this logger and its children, in order. */
  readonly events: readonly LoggedEvent[];
  forget(): void;
}

/** A logger that stores its lines. */
export function recordingLogger(): RecordingLogger {
  const events: LoggedEvent[] = [];
  return {
    ...loggerWith({}),
    events,
    forget() {
      events.length = 0;
    },
  };

  function loggerWith(bound: object): Logger {
    const log = (level: LogLevel) => (event: string, fields?: object) => {
      events.push({ level, event, fields: { ...bound, ...fields } });
    };
    return {
      debug: log("debug"),
      info: log("info"),
      warn: log("warn"),
      error: log("error"),
      child: (fields) => loggerWith({ ...bound, ...fields }),
    };
  }
}
