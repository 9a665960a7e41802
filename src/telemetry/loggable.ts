import { withoutKeys } from "./key-formats.ts";
import type { Logger } from "./logger.ts";
import { isSecretName, withoutCredentials } from "./without-credentials.ts";

const redacted = "[redacted]";
const maxDepth = 8;

/** `fields` as plain JSON data without secrets. Never throws, whatever the fields do: a log line must not end the work. */
export function loggable(fields: object): Record<string, unknown> {
  if (fields instanceof Error) return plainRecord({ error: fields }, []);
  return plainRecord(fields as Record<string, unknown>, [fields]);
}

function plainRecord(record: Readonly<Record<string, unknown>>, above: readonly object[]): Record<string, unknown> {
  const entries = Object.keys(record).map((name) => {
    try {
      return [name, isSecret(name, record[name]) ? redacted : plain(record[name], above)];
    } catch {
      return [name, "[unprintable]"];
    }
  });
  return Object.fromEntries(entries);
}

/** `hasToken: true` reveals nothing. */
function isSecret(name: string, value: unknown): boolean {
  return isSecretName(name) && value !== undefined && typeof value !== "boolean";
}

function plain(value: unknown, above: readonly object[]): unknown {
  switch (typeof value) {
    case "string":
      return withoutKeys(withoutCredentials(value));
    case "bigint":
      // A fence may exceed what a JSON number holds exactly.
      return value.toString();
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "boolean":
      return value;
    case "object":
      return value === null ? null : plainObject(value, above);
    default:
      return undefined;
  }
}

function plainObject(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return "[circular]";
  if (above.length >= maxDepth) return "[too deep]";

  const within = [...above, value];
  if (value instanceof Error) return plainError(value, within);
  if (Array.isArray(value)) return value.map((item) => plain(item, within));
  if (value instanceof Set) return [...value].map((item) => plain(item, within));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return plainRecord(Object.fromEntries(value), within);
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), within);
  return plainRecord(value as Record<string, unknown>, within);
}

interface LoggedError extends Error {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: unknown;
}

/** Only the fields listed here: clients attach whole requests to their errors, headers and passwords included. */
function plainError(error: LoggedError, above: readonly object[]) {
  const { name, message, code, syscall, stack, cause, errors } = error;
  // A failed system call has no stack in the log: its cause is outside of the program, and the message names call and file.
  return plainRecord({ name, message, code, ...(syscall === undefined && { stack }), cause, errors }, above);
}

/** A logger that applies `redact` to every string in its fields, at any depth. */
export function redactingLogger(log: Logger, redact: (text: string) => string): Logger {
  const safe = (fields: object) => mapStrings(loggable(fields), redact) as object;
  return {
    debug: (event, fields) => log.debug(event, fields && safe(fields)),
    info: (event, fields) => log.info(event, fields && safe(fields)),
    warn: (event, fields) => log.warn(event, fields && safe(fields)),
    error: (event, fields) => log.error(event, fields && safe(fields)),
  };
}

/** `value`, which is plain JSON data, with every string replaced. */
function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapStrings(item, change)]));
}
