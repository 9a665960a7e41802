import { inflateSync } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const maxBytes = 100_000_000;

/**
 * Decodes a binary change of git: lines in base 85, each starting with its length, compressed. Undefined: it is invalid
 * or too large.
 */
export function inflated(lines: readonly string[]): Buffer | undefined {
  try {
    return inflateSync(Buffer.concat(lines.map(decodeLine)), { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}

function decodeLine(line: string): Buffer {
  const first = line.charCodeAt(0);
  // A to Z are 1 to 26, a to z are 27 to 52.
  const length = first >= 97 ? first - 97 + 27 : first - 65 + 1;
  const bytes = Buffer.alloc(Math.ceil((line.length - 1) / 5) * 4);
  for (let group = 0; group * 5 + 1 < line.length; group++) {
    let value = 0;
    for (const digit of line.slice(group * 5 + 1, group * 5 + 6)) value = value * 85 + alphabet.indexOf(digit);
    bytes.writeUInt32BE(value, group * 4);
  }
  return bytes.subarray(0, length);
}
