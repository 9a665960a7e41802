import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * A value that a browser keeps for us and cannot change: `PAYLOAD.SIGNATURE`, both in base64url. `purpose` keeps a value that was
 * signed for one cookie from being accepted as another.
 */
export function signValue(payload: object, purpose: string, key: string): string {
  const encoded = Buffer.from(JSON.stringify(payload)).toString("base64url");
  return `${encoded}.${signature(encoded, purpose, key)}`;
}

/** The payload of a value with a valid signature; undefined for any other value. Compares in constant time. */
export function readSignedValue(value: string, purpose: string, key: string): unknown {
  const [encoded = "", presented = "", ...more] = value.split(".");
  const expected = Buffer.from(signature(encoded, purpose, key));
  const given = Buffer.from(presented);
  if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return JSON.parse(Buffer.from(encoded, "base64url").toString());
}

function signature(encoded: string, purpose: string, key: string): string {
  return createHmac("sha256", key).update(`${purpose}.${encoded}`).digest("base64url");
}
