import { createHash } from "node:crypto";

/** Returns the whole SHA-256 of `text` as 52 base32hex characters: lower case, and short enough for a label. */
export function nameHash(text: string): string {
  return base32hex(createHash("sha256").update(text).digest());
}

function base32hex(bytes: Uint8Array): string {
  const digits = "0123456789abcdefghijklmnopqrstuv";
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += digits[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + digits[(value << (5 - bits)) & 31] : text;
}
