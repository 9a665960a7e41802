import { createHmac, hash, timingSafeEqual } from "node:crypto";

/** Whether `header` has a signature of `body` by one of `secrets`. Compares all of them, in constant time. */
export function isSigned(body: string, header: string, secrets: readonly string[]): boolean {
  const presented = header.split(",", maxSignatures).map((one) => one.trim());
  let isFound = false;
  for (const secret of secrets) {
    const expected = digest(`v1=${createHmac("sha256", secret).update(body).digest("hex")}`);
    for (const one of presented) isFound = timingSafeEqual(digest(one), expected) || isFound;
  }
  return isFound;
}

/** While a secret is replaced, a sender signs with both. */
const maxSignatures = 8;

/** Of one length, whatever the text is. */
function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
