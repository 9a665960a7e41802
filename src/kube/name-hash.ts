import { createHash } from "node:crypto";

/** Returns the whole SHA-256 of `text` as 52 base32hex characters: lower case, and short enough for a label. */
export function nameHash(text: string): string {
  const hash = BigInt(`0x${createHash("sha256").update(text).digest("hex")}`);
  // Each digit has 5 bits: 52 digits have the 256 bits of the hash and 4 more.
  return (hash << 4n).toString(32).padStart(52, "0");
}
