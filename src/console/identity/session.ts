import { z } from "../../schema/index.ts";
import { readSignedValue, signValue } from "./signed-value.ts";

/** The content of a session cookie. It needs no store, so a session outlives the process that began it. */
export interface SessionClaims {
  readonly id: string;
  readonly user: string;
  /** Of the account at the time of the log-in: an account that was removed and added again is another one. */
  readonly account?: string | undefined;
  /** In a cluster: the groups of the user, with which the API server decides. */
  readonly groups?: readonly string[] | undefined;
  readonly expiresAtMs: number;
}

const schema = z.object({
  id: z.string(),
  user: z.string().min(1),
  account: z.string().optional(),
  groups: z.array(z.string()).optional(),
  expiresAtMs: z.number(),
});

const purpose = "session";

export function signSession(claims: SessionClaims, key: string): string {
  return signValue(claims, purpose, key);
}

/** The claims of a session that is signed with `key` and has not ended; undefined for any other value. */
export function readSession(value: string, key: string, nowMs: number): SessionClaims | undefined {
  const claims = schema.safeParse(readSignedValue(value, purpose, key)).data;
  return claims && claims.expiresAtMs > nowMs ? claims : undefined;
}
