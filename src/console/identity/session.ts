import { createHmac, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { makeDirectory, readOrCreate } from "../../disk/index.ts";
import { parse, type Wire, z } from "../../schema/index.ts";
import type { Random } from "../../time/index.ts";

const schema = z.object({
  id: z.string(),
  user: z.string().min(1),
  /** Of the account at the time of the log-in: an account that was removed and added again is another one. */
  account: z.string().optional(),
  /** In a cluster: the groups of the user, by which the API server decides. */
  groups: z.array(z.string()).optional(),
  expiresAtMs: z.number(),
});

/** The content of a session cookie. Sessions are not stored, so they outlive the process that began them. */
export type SessionClaims = Wire<typeof schema>;

const purpose = "session";

export function signSession(claims: SessionClaims, key: string): string {
  return signValue(claims, purpose, key);
}

/** The claims of a session that is signed with `key` and has not ended; undefined for any other value. */
export function readSession(value: string, key: string, nowMs: number): SessionClaims | undefined {
  const parsed = parse(schema, readSignedValue(value, purpose, key));
  return parsed.kind === "valid" && parsed.value.expiresAtMs > nowMs ? parsed.value : undefined;
}

/** The key that signs sessions. It is stored in a file that only its owner can read, so that sessions outlive a restart. */
export async function keptSessionKey(directory: string, random: Random): Promise<string> {
  await makeDirectory(directory);
  return readOrCreate(join(directory, "session-key"), () => random.id() + random.id() + random.id());
}

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
