import { describe, expect, it } from "vitest";
import { runOrder } from "../../../test/engines/run-order.ts";
import { runOwner } from "../run-marks.ts";
import { pipelineRunFor } from "./manifest.ts";

describe("a PipelineRun", () => {
  it("is created pending, with the pipeline of a bundle", () => {
    const order = runOrder({ workflow: { ...runOrder().workflow, serviceAccountName: "restarter" } });

    expect(pipelineRunFor(order)).toMatchObject({
      apiVersion: "tekton.dev/v1",
      kind: "PipelineRun",
      metadata: { name: order.name, namespace: "kubernaut-workflows" },
      spec: {
        status: "PipelineRunPending",
        pipelineRef: {
          resolver: "bundles",
          params: [
            { name: "bundle", value: "registry.example/restart:1" },
            { name: "name", value: "workflow" },
            { name: "kind", value: "pipeline" },
          ],
        },
        taskRunTemplate: { serviceAccountName: "restarter" },
        timeouts: { pipeline: "2m30s" },
      },
    });
  });

  it("has labels and annotations with its owner, its target and its fence", () => {
    const order = runOrder();

    const run = pipelineRunFor(order);

    expect(runOwner(run)).toEqual({ executionUid: order.execution.uid, target: order.target, fence: "4711" });
    expect(run.metadata.labels).toEqual({
      "app.kubernetes.io/managed-by": "interlock",
      "kubernaut.ai/engine": "tekton",
      "kubernaut.ai/target-hash": order.targetHash,
      "kubernaut.ai/workflow-execution": "restart-1",
      "kubernaut.ai/source-namespace": "payment",
      "kubernaut.ai/workflow-id": "restart",
    });
  });

  it("passes numbers and booleans as texts, because Tekton has only texts and lists", () => {
    const parameters = { count: 3, force: false, names: ["a", "b"], text: "" };

    const { spec } = pipelineRunFor(runOrder({ parameters }));

    expect(spec.params).toEqual([
      { name: "count", value: "3" },
      { name: "force", value: "false" },
      { name: "names", value: ["a", "b"] },
      { name: "text", value: "" },
      { name: "TARGET_RESOURCE", value: "payment/deployment/payment-api" },
      { name: "EXECUTION_UID", value: runOrder().execution.uid },
      { name: "FENCE", value: "4711" },
    ]);
  });

  it("has the target of its execution, also if a parameter has the same name", () => {
    const { spec } = pipelineRunFor(runOrder({ parameters: { TARGET_RESOURCE: "node/other" } }));

    expect(spec.params?.filter(({ name }) => name === "TARGET_RESOURCE")).toEqual([
      { name: "TARGET_RESOURCE", value: "payment/deployment/payment-api" },
    ]);
  });

  it.each([
    [1_800_000, "30m"],
    [1_500, "1s500ms"],
    [0, "1ms"],
  ])("with %d ms to go has a timeout of %s", (timeoutMs, text) => {
    expect(pipelineRunFor(runOrder({ timeoutMs })).spec.timeouts).toEqual({ pipeline: text });
  });
});
