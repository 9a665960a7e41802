import { hash, timingSafeEqual } from "node:crypto";

/** Whether `text` is one of `secrets`. Compares hashes with all of them, so that the duration reveals nothing, not even a length. */
export function isOneOf(text: string, secrets: readonly string[]): boolean {
  const digest = sha256(text);
  return secrets.filter((secret) => timingSafeEqual(digest, sha256(secret))).length > 0;
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
