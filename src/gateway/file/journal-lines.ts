import { crc32 } from "node:zlib";
import type { KeptTally, Tally } from "../tally.ts";

/** A line is a checksum and JSON. Either the whole tally, or what changes with every signal. */
export function wholeLine(tally: Tally): string {
  return line(JSON.stringify(tally.kept()));
}

export function countLine({ uid, count, written, lastSeenAt }: Tally): string {
  return line(JSON.stringify({ uid, count, written, lastSeenAt }));
}

function line(json: string): string {
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

/**
 * Takes in the lines of one file, up to the first that is not as it was written: a crash has cut it short, and nobody
 * was told that it is kept. Returns how many bytes were left over.
 */
export function takeLines(bytes: Buffer, tallies: Map<string, KeptTally>): number {
  let at = 0;
  for (let end = bytes.indexOf(10, at); end >= 0; end = bytes.indexOf(10, at)) {
    const json = bytes.subarray(at + 9, end);
    if (bytes.toString("latin1", at, at + 8) !== crc32(json).toString(16).padStart(8, "0")) break;
    take(JSON.parse(json.toString()), tallies);
    at = end + 1;
  }
  return bytes.length - at;
}

type CountLine = Pick<KeptTally, "uid" | "count" | "written" | "lastSeenAt">;

function take(said: KeptTally | CountLine, tallies: Map<string, KeptTally>) {
  const known = tallies.get(said.uid);
  if ("report" in said) {
    const firing = new Map([...(known?.firing ?? []), ...said.firing]);
    tallies.set(said.uid, { ...said, written: Math.max(known?.written ?? 0, said.written), firing: [...firing] });
    for (const [uid, count] of said.moved ?? []) moveAway(tallies, uid, count);
  } else if (known) {
    // A line about other signals may not know yet what was moved away.
    tallies.set(said.uid, { ...known, ...said, written: Math.max(known.written, said.written) });
  }
}

function moveAway(tallies: Map<string, KeptTally>, uid: string, count: number) {
  const known = tallies.get(uid);
  if (known) tallies.set(uid, { ...known, written: Math.max(known.written, count) });
}
