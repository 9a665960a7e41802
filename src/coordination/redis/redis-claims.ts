import { type ClaimDeskOptions, claimsOver } from "../claim-desk.ts";
import type { Claims } from "../claims.ts";
import { redisClaimStore } from "./redis-claim-store.ts";
import type { Scripts } from "./script.ts";

export interface RedisClaimsOptions extends ClaimDeskOptions {
  /** Stays open when the claims are closed: it may serve others. */
  readonly connection: Scripts;
  /** Default: the connection's. */
  readonly prefix?: string;
}

/**
 * Claims in Redis. They last as long as it keeps what it acknowledged: a server that restarts empty, or a replica that
 * takes over before it was told, has forgotten what was done, and lets it be done again.
 */
export function redisClaims(options: RedisClaimsOptions): Claims {
  return claimsOver(redisClaimStore(options), options);
}
