import type { KubeObject, ResourceType } from "./object.ts";

/** coordination.k8s.io/v1 Lease. */
export interface KubeLease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const leases: ResourceType<KubeLease> = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

/** Kubernetes' MicroTime: exactly six fraction digits, or the API server refuses the Lease. */
export function microTime(wallMs: number): string {
  const micros = Math.floor(wallMs * 1_000) % 1_000_000;
  return new Date(Math.floor(wallMs)).toISOString().replace(/\.\d+Z$/, `.${String(micros).padStart(6, "0")}Z`);
}
