import type { LedgerEvent } from "../../src/ledger/index.ts";

/** So many targets share the events. */
export const targetCount = 1_000;

export function targetOf(i: number): string {
  return `payment/deployment/payment-api-${i % targetCount}`;
}

/** An event like those of the executor: 640 bytes as a row. */
export function sample(i: number): LedgerEvent {
  const uid = `6b1e0c9a-5f0c-4d6e-9a41-${String(i).padStart(12, "0")}`;
  return {
    id: `${uid}/execution.completed`,
    type: "execution.completed",
    at: new Date(1_794_736_800_000 + i * 10).toISOString(),
    facts: {
      execution: `kubernaut-system/wfe-${i}`,
      execution_id: uid,
      remediation_id: `rr-4f1c29d80be7-${i % 9}`,
      target_resource: targetOf(i),
      workflow_id: "restart-deployment",
      duration: "2m30s",
      run: { kind: "PipelineRun", name: `wfe-${i % targetCount}`, namespace: "kubernaut-workflows" },
    },
  };
}
