import { type ClaimClientOptions, claimsOver } from "../claims/claim-client.ts";
import type { Claims } from "../claims/claims.ts";
import { MemoryClaimStore } from "./memory-claim-store.ts";

export interface MemoryClaimsOptions extends ClaimClientOptions {
  /** Default 10,000. */
  readonly maxEntries?: number;
}

/**
 * Claims among the callers of one process. A restart forgets them, and other processes do not see them. At most
 * `maxEntries` are kept; `MemoryClaimStore` describes the eviction.
 */
export function memoryClaims(options: MemoryClaimsOptions): Claims {
  return claimsOver(new MemoryClaimStore(options), options);
}
