import type { KubeClient } from "../../kube/index.ts";
import { type ClaimClientOptions, claimsOver } from "../claims/claim-client.ts";
import type { Claims } from "../claims/claims.ts";
import { kubernetesClaimStore } from "./kubernetes-claim-store.ts";

export interface KubernetesClaimsOptions extends ClaimClientOptions {
  readonly client: KubeClient;
  readonly namespace: string;
}

/**
 * Claims as Kubernetes Leases named `claim-…`: one write to claim, one to complete. Safe whatever the clocks show, as
 * long as they run at nearly the same speed; the claim of a crashed process is free one lease after the first request
 * for it. Kubernetes does not remove unused Leases by itself: see `startJanitor`.
 */
export function kubernetesClaims(options: KubernetesClaimsOptions): Claims {
  return claimsOver(kubernetesClaimStore(options), options);
}
