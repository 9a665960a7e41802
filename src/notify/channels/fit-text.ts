import { cutText, toPrintable } from "../../telemetry/index.ts";
import { type Message, messageLines } from "../message.ts";

/** Long enough for every fact; one long line must not displace all others. */
const maxLineLength = 1_000;

/** Returns text from outside as one line without control characters. */
export function plainLine(text: string, max = maxLineLength): string {
  return cutText(toPrintable(text), max);
}

/** Returns the message as plain text of at most `max` UTF-16 units. */
export function plainText(message: Message, max: number): string {
  return fitLines(
    messageLines(message).map((line) => plainLine(line)),
    max,
  ).join("\n");
}

/** Returns the first lines that fit into `max` together with their line ends, and a last line about the rest. */
export function fitLines(lines: readonly string[], max: number, sizeOf = (line: string) => line.length): string[] {
  const sizes = lines.map((line) => sizeOf(line) + 1);
  if (sizes.reduce((sum, size) => sum + size, 0) <= max) return [...lines];
  const restLine = (count: number) => `… and ${count} more lines`;
  let room = max - sizeOf(restLine(lines.length)) - 1;
  const kept = sizes.findIndex((size) => {
    room -= size;
    return room < 0;
  });
  return [...lines.slice(0, kept), restLine(lines.length - kept)];
}
