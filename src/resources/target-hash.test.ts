import { describe, expect, it } from "vitest";
import { runName, targetHash } from "./names.ts";
import { parseTarget } from "./target/parse-target.ts";
import type { Target } from "./target/target.ts";

describe("the name of a run", () => {
  it.each([
    ["payment/deployment/payment-api", "wfe-cf0cc089293b1165"],
    ["node/worker-node-1", "wfe-ac45b7d6911e97a5"],
    ["kube-system/configmap/coredns", "wfe-facb8fdea3f26897"],
  ])("on %s is %s", (text, name) => {
    expect(runName(target(text))).toBe(name);
  });

  it("is the same for every spelling of a target", () => {
    const spellings = ["Deployment", "deployments", "deploy", "deployment.apps"];

    const names = spellings.map((kind) => runName(target(`payment/${kind}/payment-api`)));

    expect(new Set(names)).toEqual(new Set(["wfe-cf0cc089293b1165"]));
  });
});

describe("the hash of a target", () => {
  it("is the whole SHA-256 in 52 characters that fit a label and a name", () => {
    expect(targetHash(target("node/worker-node-1"))).toMatch(/^[0-9a-v]{52}$/);
  });
});

function target(text: string): Target {
  const reading = parseTarget(text);
  if (reading.kind === "problem") throw new Error(`${text} ${reading.problem}`);
  return reading.target;
}
