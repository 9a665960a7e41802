import { join } from "node:path";
import { makeDirectory, readOrCreate } from "../../disk/index.ts";
import { parse, type Wire, z } from "../../schema/index.ts";
import type { Random } from "../../time/index.ts";
import { readSignedValue, signValue } from "./signed-value.ts";

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
