import { type DestinationStream, pino } from "pino";
import type { Clock } from "../time/index.ts";
import { loggable } from "./loggable.ts";
import type { Logger, LogLevel } from "./logger.ts";
import { toPrintable } from "./printable.ts";
import { textLine } from "./text-line.ts";

export interface PinoLoggerOptions {
  readonly level: LogLevel;
  /** `json`: one object per line. `text`: for reading in a terminal. */
  readonly format: "json" | "text";
  readonly clock: Clock;
  /** Where lines go, each with its line end. Default: standard output. */
  readonly destination?: { write(line: string): void };
}

/** A logger that writes lines, with secrets taken out. */
export function pinoLogger({ level, format, clock, destination = pino.destination(1) }: PinoLoggerOptions): Logger {
  const toLine = format === "json" ? jsonLine : textLine;
  const lines: DestinationStream = { write: (line) => destination.write(toLine(line)) };
  const out = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.wallMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // By default pino rewrites a field called `err`; ours are plain data already.
      serializers: { err: (error) => error },
    },
    lines,
  );
  const log = (at: LogLevel) => (event: string, fields?: object) => {
    if (out.isLevelEnabled(at)) out[at](fields ? withoutReserved(loggable(fields)) : {}, event);
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

/** JSON leaves C1 controls and direction overrides as they are, and logs are read in terminals. */
function jsonLine(line: string): string {
  return `${toPrintable(line.trimEnd())}\n`;
}

/** Fields that would hide the line's own level, time or message get a `_`. */
function withoutReserved(fields: Readonly<Record<string, unknown>>): object {
  if (!("level" in fields || "time" in fields || "msg" in fields)) return fields;
  const reserved = ["level", "time", "msg"];
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [reserved.includes(name) ? `${name}_` : name, value]),
  );
}
