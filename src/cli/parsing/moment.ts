import { parseDuration } from "../../time/index.ts";
import { MisuseError } from "../command.ts";

/** The time that the option `name` means: `2026-11-15T10:00:00Z`, or `2h` for two hours ago. In milliseconds since 1970. */
export function readMoment(name: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const agoMs = parseDuration(text);
  // JavaScript would read "5" as a month.
  const ms = agoMs === undefined ? Date.parse(/^\d{4}-/.test(text) ? text : "") : nowMs - agoMs;
  if (!Number.isNaN(ms)) return ms;
  throw new MisuseError(`--${name} ${text} is not a time: write 2026-11-15T10:00:00Z, or 2h for two hours ago`);
}
