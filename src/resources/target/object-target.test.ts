import { describe, expect, it } from "vitest";
import { kindsWith } from "./kinds.ts";
import { toObjectTarget } from "./object-target.ts";
import { parseTarget } from "./parse-target.ts";
import type { TargetReading } from "./target.ts";

describe("a target in any spelling", () => {
  it.each([
    ["payment/deployment/payment-api", "payment/deployment/payment-api"],
    ["payment/Deployment/payment-api", "payment/deployment/payment-api"],
    ["payment/deployments/payment-api", "payment/deployment/payment-api"],
    ["payment/deploy/payment-api", "payment/deployment/payment-api"],
    ["payment/deployment.apps/payment-api", "payment/deployment/payment-api"],
    ["payment/Deployments.Apps/payment-api", "payment/deployment/payment-api"],
    ["payment/deployment.extensions/payment-api", "payment/deployment/payment-api"],
    ["node/worker-node-1", "node/worker-node-1"],
    ["No/worker-node-1", "node/worker-node-1"],
    ["kube-system/cm/coredns", "kube-system/configmap/coredns"],
    ["web/ingresses.networking.k8s.io/shop", "web/ingress/shop"],
    ["web/networkpolicies/shop", "web/networkpolicy/shop"],
    ["web/ep/shop", "web/endpoints/shop"],
    ["sc/fast", "storageclass/fast"],
    ["crd/rollouts.argoproj.io", "customresourcedefinition/rollouts.argoproj.io"],
    ["clusterrole/system:node", "clusterrole/system:node"],
    ["eu-1:payment/deploy/payment-api", "eu-1:payment/deployment/payment-api"],
    ["eu-1:no/worker-node-1", "eu-1:node/worker-node-1"],
  ])("%s is %s", (text, canonical) => {
    expect(textOf(parseTarget(text))).toBe(canonical);
  });

  it("has cluster, namespace, kind, group and name", () => {
    expect(parseTarget("eu-1:payment/deploy/payment-api")).toEqual({
      kind: "target",
      target: {
        type: "object",
        text: "eu-1:payment/deployment/payment-api",
        cluster: "eu-1",
        namespace: "payment",
        kind: "deployment",
        group: "apps",
        name: "payment-api",
      },
    });
  });

  it.each([
    ["", "is not a target: write namespace/kind/name, or kind/name for a kind that has no namespace"],
    ["payment-api", "is not a target: write namespace/kind/name, or kind/name for a kind that has no namespace"],
    ["a/b/c/d", "is not a target: write namespace/kind/name, or kind/name for a kind that has no namespace"],
    ["payment//api", "has no valid kind: write namespace/kind/name, or kind/name for a kind that has no namespace"],
    ["deployment/api", "has no namespace, and a deployment lives in one: write namespace/deployment/name"],
    ["default/node/w1", "has a namespace, and a node lives in none: write node/name"],
    [
      `node/${"a".repeat(254)}`,
      "has no valid name for a node: at most 253 of a-z, 0-9, - and ., every part beginning and ending with a letter or digit",
    ],
    [
      "web/rollout/shop",
      'has the kind "rollout", which is not built in: write other kinds with their group, as in certificate.cert-manager.io',
    ],
    [
      "web/deployment.v1.apps/shop",
      'names the kind "deployment.v1.apps" with a version: write it without, as in deployment.apps',
    ],
    [
      "Web/deployment/shop",
      "has no valid namespace: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit",
    ],
    [
      "/deployment/shop",
      "has no valid namespace: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit",
    ],
    [
      "node/Worker-1",
      "has no valid name for a node: at most 253 of a-z, 0-9, - and ., every part beginning and ending with a letter or digit",
    ],
    [
      "node/",
      "has no valid name for a node: at most 253 of a-z, 0-9, - and ., every part beginning and ending with a letter or digit",
    ],
    [
      "node/w1 ",
      "has no valid name for a node: at most 253 of a-z, 0-9, - and ., every part beginning and ending with a letter or digit",
    ],
    ["clusterrole/a b", "has no valid name for a clusterrole: at most 253 printable characters without space, % and /"],
    ["clusterrole/..", "has no valid name for a clusterrole: at most 253 printable characters without space, % and /"],
    [
      ":node/w1",
      'has no valid cluster before the colon: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit, and not "git"',
    ],
    [`node/${"w".repeat(2_000)}`, "is longer than 1024 characters"],
  ])("cannot be %j", (text, problem) => {
    expect(parseTarget(text)).toEqual({ kind: "problem", problem });
  });
});

describe("a target of a custom kind", () => {
  const kinds = kindsWith([
    { kind: "Rollout", plural: "rollouts", shortNames: ["ro"], group: "argoproj.io", namespaced: true },
    { kind: "Service", plural: "services", group: "serving.knative.dev", namespaced: true },
    { kind: "Deployment", plural: "deployments", group: "apps", namespaced: false },
  ]);

  it.each(["Rollout.argoproj.io", "rollouts.argoproj.io", "ro.argoproj.io", "rollout.ArgoProj.io"])(
    "is recognised as %s, and written with its group",
    (spelling) => {
      expect(textOf(parseTarget(`web/${spelling}/shop`, kinds))).toBe("web/rollout.argoproj.io/shop");
    },
  );

  it("is a problem with the fix, if it is neither defined nor declared", () => {
    expect(parseTarget("web/analysis.argoproj.io/shop", kinds)).toEqual({
      kind: "problem",
      problem:
        'has the kind "analysis.argoproj.io", which is neither built in nor defined by a custom resource definition here: apply its CustomResourceDefinition, or declare the kind in the setting kinds.declared',
      unknownKind: true,
    });
  });

  it("is not found without its group, and the problem has the right spelling", () => {
    expect(parseTarget("web/ro/shop", kinds)).toEqual({
      kind: "problem",
      problem:
        'has the kind "ro", which is not built in: write other kinds with their group, as in rollout.argoproj.io',
    });
  });

  it("does not hide a built-in kind of the same name", () => {
    expect(textOf(parseTarget("web/service/shop", kinds))).toBe("web/service/shop");
    expect(textOf(parseTarget("web/service.serving.knative.dev/shop", kinds))).toBe(
      "web/service.serving.knative.dev/shop",
    );
    expect(textOf(parseTarget("web/deployment.apps/shop", kinds))).toBe("web/deployment/shop");
  });
});

describe("a target given as a reference", () => {
  it.each([
    [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "web", name: "shop" }, "web/deployment/shop"],
    [{ apiVersion: "v1", kind: "Node", name: "w1" }, "node/w1"],
    [{ kind: "Node", namespace: "", name: "w1" }, "node/w1"],
    [{ kind: "StatefulSet", namespace: "web", name: "db" }, "web/statefulset/db"],
  ])("%j is %s", (reference, canonical) => {
    expect(textOf(toObjectTarget(reference))).toBe(canonical);
  });

  it("needs a kind that is known", () => {
    const reference = { apiVersion: "serving.knative.dev/v1", kind: "Service", namespace: "web", name: "shop" };

    expect(toObjectTarget(reference).kind).toBe("problem");
  });
});

function textOf(reading: TargetReading): string {
  return reading.kind === "target" ? reading.target.text : reading.problem;
}
