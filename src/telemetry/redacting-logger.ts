import { loggable } from "./loggable.ts";
import type { Logger } from "./logger.ts";

/** A logger whose fields go through `redact`, however deep they are. */
export function redactingLogger(log: Logger, redact: (text: string) => string): Logger {
  const safe = (fields: object) => mapStrings(loggable(fields), redact) as object;
  return {
    debug: (event, fields) => log.debug(event, fields && safe(fields)),
    info: (event, fields) => log.info(event, fields && safe(fields)),
    warn: (event, fields) => log.warn(event, fields && safe(fields)),
    error: (event, fields) => log.error(event, fields && safe(fields)),
    child: (fields) => redactingLogger(log.child(safe(fields)), redact),
  };
}

/** `value`, which is plain JSON data, with every string replaced. */
function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapStrings(item, change)]));
}
