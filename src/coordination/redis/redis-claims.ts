import { type ClaimDeskOptions, claimsOver } from "../claim-desk.ts";
import type { Claims } from "../claims.ts";
import type { Scripts } from "./connection.ts";
import { redisClaimStore } from "./redis-claim-store.ts";

export interface RedisClaimsOptions extends ClaimDeskOptions {
  /** Stays open when the claims are closed: it may serve others. */
  readonly connection: Scripts;
  /** Default `interlock:`. */
  readonly prefix?: string;
}

/**
 * Claims in one Redis (not Sentinel, not Cluster). They last as long as that server keeps what it acknowledged: one
 * that restarts empty has forgotten what was done, and lets it be done again.
 */
export function redisClaims(options: RedisClaimsOptions): Claims {
  return claimsOver(redisClaimStore(options), options);
}
