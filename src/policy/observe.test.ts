import { describe, expect, it } from "vitest";
import { decide } from "./decide.ts";
import { defaultPolicy, type PolicySettings } from "./settings.ts";

describe("a target that is only observed", () => {
  it.each<[string, Partial<PolicySettings>, boolean, string]>([
    [
      "by its own reason",
      { observeTargets: new Map([["payment/deployment/api", "launch week"]]) },
      true,
      "would run, but nothing is started: payment/deployment/api is only observed, because launch week",
    ],
    [
      "by that of its namespace",
      { observeTargets: new Map([["payment/*", "audit"]]) },
      true,
      "would run, but nothing is started: payment/* is only observed, because audit",
    ],
    ["not because of another target", { observeTargets: new Map([["pay/*", "audit"]]) }, false, "may run now"],
    ["because everything is", { observe: true }, true, "would run, but nothing is started: observe mode is on"],
  ])("is so %s", (_what, given, observeOnly, message) => {
    const request = { target: "payment/deployment/api", namespace: "payment", workflowId: "restart" };
    const settings = { ...defaultPolicy, ...given };

    const decision = decide(request, { record: undefined, workflow: {}, pauses: [], settings, nowMs: 0 });

    expect(decision).toMatchObject({ verdict: "allow", observeOnly, message });
  });
});
