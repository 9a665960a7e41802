import { createHash } from "node:crypto";
import { nameHash } from "../kube/index.ts";

declare const brand: unique symbol;

/** The subject of a lock, claim or watermark. Built by `keyOf`, so that different parts never make the same key. */
export type Key = string & { readonly [brand]: "Key" };

/**
 * A readable key out of its parts: `keyOf("repo", host, id)` is `repo:gitlab.example.com:42`.
 * Separators inside a part are escaped; that is what keeps `("a:b", "c")` and `("a", "b:c")` apart.
 */
export function keyOf(...parts: readonly (string | number)[]): Key {
  if (parts.length === 0 || parts.some((part) => part === "")) {
    throw new TypeError(`a key needs at least one part and no empty ones, got ${JSON.stringify(parts)}`);
  }
  return parts.map((part) => escapePart(String(part))).join(":") as Key;
}

function escapePart(part: string): string {
  if (/\p{Surrogate}/u.test(part)) throw new TypeError("a key part must be well-formed Unicode");
  // Keys are stored and logged in clear. Naming the part would print the secret once more.
  if (/\/\/[^/\s]*@/.test(part)) throw new TypeError("a key must not carry credentials: take the id, not the URL");
  // `|` and control characters would break the records that keys are written into.
  return part.replace(/[%:|\p{Cc}]/gu, encodeURIComponent);
}

/** The key's name in a store that takes any bytes: 43 base64url characters of SHA-256. Always the whole hash. */
export function keyHash(key: Key): string {
  return createHash("sha256").update(key).digest("base64url");
}

/** The key's name in Kubernetes. */
export function keyName(key: Key): string {
  return nameHash(key);
}
