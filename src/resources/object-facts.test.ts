import { describe, expect, it } from "vitest";
import { objectFacts } from "./object-facts.ts";

describe("the facts of an object", () => {
  it("are its labels, annotations, conditions, phase, node, and the reasons why its containers ended or wait", () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "api-1", labels: { app: "api" }, annotations: { team: "payment" } },
      spec: { nodeName: "worker-1" },
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "False" }, "odd", { type: "NoStatus" }],
        initContainerStatuses: [{ state: { terminated: { reason: "Completed" } } }],
        containerStatuses: [
          { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: { reason: "OOMKilled" } } },
        ],
      },
    };

    expect(objectFacts(pod)).toEqual({
      labels: { app: "api" },
      annotations: { team: "payment" },
      conditions: { Ready: "False" },
      phase: "Running",
      lastTermination: ["Completed", "OOMKilled"],
      waiting: ["CrashLoopBackOff"],
      managedBy: [],
      node: "worker-1",
    });
  });

  it.each([
    ["Helm", { annotations: { "meta.helm.sh/release-name": "api" } }],
    ["Helm", { labels: { "app.kubernetes.io/managed-by": "Helm" } }],
    ["ArgoCD", { annotations: { "argocd.argoproj.io/tracking-id": "api:apps/Deployment:payment/api" } }],
    ["ArgoCD", { labels: { "argocd.argoproj.io/instance": "api" } }],
    ["Flux", { labels: { "kustomize.toolkit.fluxcd.io/name": "apps" } }],
    ["an-operator", { labels: { "app.kubernetes.io/managed-by": "an-operator" } }],
  ])("name %s as the tool that manages it, by %j", (tool, metadata) => {
    expect(objectFacts({ apiVersion: "apps/v1", kind: "Deployment", metadata }).managedBy).toEqual([tool]);
  });

  it("are empty for a status of any other shape", () => {
    const odd = {
      apiVersion: "v1",
      kind: "X",
      metadata: {},
      spec: "x",
      status: { conditions: 5, containerStatuses: [null] },
    };

    expect(objectFacts(odd)).toMatchObject({ conditions: {}, lastTermination: [], waiting: [] });
  });
});
