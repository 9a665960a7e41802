import type { Redis } from "ioredis";
import { type Claims, keyOf, RedisConnection, redisClaims } from "../../src/coordination/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";

export interface ClaimBytes {
  /** Of a claim that is done, with a result of 40 bytes. */
  readonly claim: number;
  /** Of a plain key with an expiry, a name as long and the same 40 bytes: what a done claim cannot be smaller than. */
  readonly plainKey: number;
}

const result = "0123456789abcdef0123456789abcdef01234567";

/** D: what Redis keeps of a claim that is done. */
export async function claimBytes(url: string, admin: Redis): Promise<ClaimBytes> {
  const random = systemRandom();
  const connection = new RedisConnection({ url, clock: systemClock(), random });
  const claims = redisClaims({ connection, clock: systemClock(), random, who: "gateway/gateway-0/1" });
  await connection.connect();
  // What all claims share is there after the first.
  await finish(claims, 991_203);
  const before = new Set(await admin.keys("*"));
  await finish(claims, 991_204);
  const names = (await admin.keys("*")).filter((name) => !before.has(name));

  let claim = 0;
  for (const name of names) claim += await bytesOf(admin, name);
  const plain = "x".repeat(names[0]?.length ?? 0);
  await admin.set(plain, result, "PX", 60_000);
  const plainKey = await bytesOf(admin, plain);
  await claims.close();
  await connection.close();
  return { claim, plainKey };
}

async function finish(claims: Claims, noteId: number) {
  const claim = await claims.claim(keyOf("note", "gitlab.example.com", 4_211, 17, noteId));
  if (claim.state !== "new") throw new Error(`no other caller can have made this claim, but it is ${claim.state}`);
  await claim.complete(result);
}

async function bytesOf(admin: Redis, name: string): Promise<number> {
  return Number(await admin.memory("USAGE", name));
}
