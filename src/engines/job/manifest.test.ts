import { describe, expect, it } from "vitest";
import { runOrder } from "../../../test/engines/run-order.ts";
import { runOwner } from "../run-marks.ts";
import { jobFor } from "./manifest.ts";

describe("a Job", () => {
  it("is created suspended, without retries, and never has two pods at a time", () => {
    expect(jobFor(runOrder()).spec).toMatchObject({
      suspend: true,
      backoffLimit: 0,
      podReplacementPolicy: "Failed",
      ttlSecondsAfterFinished: 3_600,
      template: { spec: { restartPolicy: "Never" } },
    });
  });

  it("has a later deadline than its pod, so that the pod is kept and shows what happened", () => {
    const { spec } = jobFor(runOrder({ timeoutMs: 1_500 }));

    expect(spec.template.spec.activeDeadlineSeconds).toBe(2);
    expect(spec.activeDeadlineSeconds).toBe(62);
  });

  it("has no privileges", () => {
    const { spec } = jobFor(runOrder()).spec.template;

    expect(spec.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(spec.containers[0]).toMatchObject({
      image: "registry.example/restart:1",
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
      volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
    });
  });

  it("has its parameters, target, execution and fence in its environment", () => {
    const order = runOrder({ parameters: { count: 3, names: ["a", "b"], TARGET_RESOURCE: "node/other" } });

    expect(environment(order)).toEqual({
      HOME: "/tmp",
      TMPDIR: "/tmp",
      count: "3",
      names: '["a","b"]',
      TARGET_RESOURCE: "payment/deployment/payment-api",
      EXECUTION_UID: order.execution.uid,
      FENCE: "4711",
    });
  });

  it("gets a parameter unchanged, although Kubernetes replaces $(FENCE) in variables", () => {
    expect(environment(runOrder({ parameters: { text: "$(FENCE) costs $$5" } }))).toMatchObject({
      text: "$$(FENCE) costs $$$$5",
    });
  });

  it("passes exactly the arguments of the catalog entry", () => {
    const { workflow } = runOrder();
    const args = ["action", "$(FENCE)"];

    const [withArgs] = jobFor(runOrder({ workflow: { ...workflow, args } })).spec.template.spec.containers;
    const [without] = jobFor(runOrder()).spec.template.spec.containers;

    expect(withArgs?.args).toEqual(["action", "$$(FENCE)"]);
    expect(without).not.toHaveProperty("args");
  });

  it("has labels and annotations of its owner, and so do its pods", () => {
    const order = runOrder();

    const { metadata, spec } = jobFor(order);

    expect(runOwner({ metadata })).toEqual({ executionUid: order.execution.uid, target: order.target, fence: "4711" });
    expect(metadata.labels).toMatchObject({ "kubernaut.ai/engine": "job", "kubernaut.ai/workflow-id": "restart" });
    expect(spec.template.metadata).toEqual({ labels: metadata.labels });
  });
});

function environment(order: ReturnType<typeof runOrder>) {
  const variables = jobFor(order).spec.template.spec.containers[0]?.env ?? [];
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}
