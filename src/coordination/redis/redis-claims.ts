import { type ClaimClientOptions, claimsOver } from "../claims/claim-client.ts";
import type { Claims } from "../claims/claims.ts";
import { redisClaimStore } from "./redis-claim-store.ts";
import type { Scripts } from "./script.ts";

export interface RedisClaimsOptions extends ClaimClientOptions {
  /** Stays open when the claims are closed: it may serve others. */
  readonly connection: Scripts;
  /** Default: the connection's. */
  readonly prefix?: string;
}

/**
 * Claims in Redis. They last as long as it keeps acknowledged writes: a server that restarts empty, or a replica that
 * takes over without the latest writes, has lost finished claims, and their work may be repeated.
 */
export function redisClaims(options: RedisClaimsOptions): Claims {
  return claimsOver(redisClaimStore(options), options);
}
