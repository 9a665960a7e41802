import { toPrintable } from "./printable.ts";

/** A JSON log line as text for a terminal: time, level, event, fields, and the stacks of errors below. */
export function textLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const parts = [time, String(level).toUpperCase().padEnd(5), msg];
  const stacks: string[] = [];

  for (const [name, value] of Object.entries(fields)) {
    if (!isError(value)) {
      parts.push(`${name}=${word(value)}`);
      continue;
    }
    parts.push(`${name}=${word(`${value.name}${value.code ? ` (${value.code})` : ""}: ${value.message}`)}`);
    stacks.push(...stackLines(value));
  }
  return `${[parts.join(" "), ...stacks].map(toPrintable).join("\n    ")}\n`;
}

interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  /** Absent for a failed system call. */
  readonly stack?: string;
  readonly cause?: unknown;
}

function isError(value: unknown): value is PlainError {
  if (typeof value !== "object" || value === null) return false;
  const { name, message, code, stack } = value as Partial<PlainError>;
  const hasOrigin = typeof stack === "string" || (stack === undefined && code !== undefined);
  return typeof name === "string" && typeof message === "string" && hasOrigin;
}

/** Indented below the line of the event, so that none of them can be taken for an event of its own. */
function stackLines(error: PlainError): string[] {
  const lines = (error.stack ?? "").split("\n").flatMap((line) => line.trim() || []);
  const below = isError(error.cause) ? stackLines(error.cause) : [];
  return below.length > 0 ? [...lines, "caused by", ...below] : lines;
}

/** Quoted where spaces, quotes or line ends would make it look like more than one field, or more than one line. */
function word(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=\p{Cc}]+$/u.test(value)) return value;
  return JSON.stringify(value);
}
