import type { RunOrder } from "../../src/engines/index.ts";

/** An order for a run, with usual values for what a test does not care about. */
export function runOrder(special: Partial<RunOrder> = {}): RunOrder {
  return {
    name: "wfe-cf0cc089293b1165",
    namespace: "kubernaut-workflows",
    execution: { uid: "6d4c1f1e-6f1e-4b6b-9a50-0d7a4a3a6d11", name: "restart-1", namespace: "payment" },
    target: "payment/deployment/payment-api",
    targetHash: "q3uc1279cc2v4dlmd0q6gv5r8e9b4l0qk1h7g5t3m2n1o0p9s8vg",
    workflow: { id: "restart", containerImage: "registry.example/restart:1", pipeline: "workflow" },
    parameters: {},
    timeoutMs: 150_000,
    secretParameters: [],
    keepMs: 3_600_000,
    fence: "4711",
    ...special,
  };
}
