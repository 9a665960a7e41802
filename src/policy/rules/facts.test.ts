import { describe, expect, it } from "vitest";
import {
  builtInKinds,
  type ObjectFacts,
  type RemediationRequest,
  type RemediationRequestSpec,
} from "../../resources/index.ts";
import { openCauses } from "./deferral.ts";
import { deferralProblems } from "./deferral-problems.ts";
import { diagnose, diagnoseWithFacts } from "./diagnose.ts";
import type { Facts } from "./facts.ts";
import type { Rule, RuleMatch } from "./rule.ts";
import { readRules } from "./rule.ts";

describe("a rule", () => {
  it.each<[string, RuleMatch, boolean]>([
    ["the name of the subject", { name: "/api-.*/" }, true],
    ["another name", { name: "db" }, false],
    ["a label of the object", { object: { labels: { tier: "front" } } }, true],
    ["another label of the object", { object: { labels: { tier: "back" } } }, false],
    ["an annotation of the owner", { owner: { annotations: { "team/contact": "/pay.*/" } } }, true],
    ["a label that only the object has", { owner: { labels: { tier: "front" } } }, false],
    ["why a container ended last", { object: { lastTermination: ["OOMKilled", "Evicted"] } }, true],
    ["another reason for its end", { object: { lastTermination: "Evicted" } }, false],
    ["what a container waits for", { object: { waiting: "CrashLoopBackOff" } }, true],
    ["a condition", { owner: { conditions: { Available: "False" } } }, true],
    ["a condition that has another status", { owner: { conditions: { Available: "True" } } }, false],
    ["a condition that is not there", { owner: { conditions: { Ready: "False" } } }, false],
    ["the phase", { object: { phase: "Running" } }, true],
    ["the tool that manages the owner", { owner: { managedBy: ["Helm", "ArgoCD"] } }, true],
    ["a tool that does not manage it", { owner: { managedBy: "Flux" } }, false],
  ])("matches on %s", (_what, match, fits) => {
    const analysis = diagnose(incident(), [rule({ match })], builtInKinds, facts());

    expect(analysis.kind).toBe(fits ? "diagnosed" : "no-match");
  });

  it("matches the namespace also if the subject is a Namespace itself", () => {
    const subject = incident({ targetResource: { kind: "Namespace", name: "payment" } });

    expect(diagnose(subject, [rule({ match: { namespace: "payment" } })], builtInKinds).kind).toBe("diagnosed");
    expect(diagnose(subject, [rule({ match: { namespace: "other" } })], builtInKinds).kind).toBe("no-match");
  });

  it("does not apply to an incident that its exception matches", () => {
    const exception = rule({ match: { signalName: "Crash" }, unless: { owner: { managedBy: "ArgoCD" } } });

    const analysis = diagnose(incident(), [exception], builtInKinds, facts());

    expect(analysis).toMatchObject({ kind: "no-match", tried: ["r (its exception under unless applies)"] });
  });

  it("explains which fact did not match", () => {
    const match = { owner: { conditions: { Available: "True" } } };

    const analysis = diagnose(incident(), [rule({ match })], builtInKinds, facts());

    expect(analysis).toEqual({
      kind: "no-match",
      tried: ["r (owner condition Available is False)"],
      dependsOnFacts: true,
    });
  });

  it("fills facts into its target and parameters", () => {
    const node = rule({
      match: { signalName: "Crash" },
      target: "node/{{ object.node }}",
      parameters: { team: "{{ owner.annotations.team/contact }}" },
    });

    expect(diagnose(incident(), [node], builtInKinds, facts())).toMatchObject({
      diagnosis: { target: "node/worker-1", parameters: { team: "payments" } },
    });
  });

  it("does not apply while its facts cannot be read, and no rule after it does", () => {
    const special = rule({ name: "special", match: { owner: { managedBy: "ArgoCD" } } });
    const forbidden = { kind: "unreadable", problem: "may not be read: forbidden" } as const;

    const analysis = diagnose(incident(), [special, rule({ name: "general" })], builtInKinds, {
      object: forbidden,
      owner: forbidden,
    });

    expect(analysis).toEqual({
      kind: "no-match",
      tried: ["special (it asks about the owner, which may not be read: forbidden)"],
      unreadable: true,
      dependsOnFacts: true,
    });
  });

  it("does not apply to a signal that names no object", () => {
    const none = incident({ targetResource: { kind: "", name: "" } });
    const asks = rule({ match: { object: { phase: "Running" } }, target: "node/a" });

    expect(diagnose(none, [asks, rule({ name: "next", target: "node/b" })], builtInKinds)).toMatchObject({
      rule: "next",
    });
  });
});

describe("facts", () => {
  it.each<[string, readonly Rule[], number]>([
    ["are not read if no rule asks for them", [rule()], 0],
    ["are not read if an earlier rule applies", [rule(), rule({ name: "x", match: { object: { phase: "X" } } })], 0],
    [
      "are not read if the rule does not fit otherwise",
      [rule({ match: { signalName: "Other", object: { phase: "X" } } })],
      0,
    ],
    ["are read once if a rule that fits asks for them", [rule({ match: { object: { phase: "X" } } }), rule()], 1],
  ])("%s", async (_what, rules, reads) => {
    let count = 0;

    await diagnoseWithFacts(incident(), rules, builtInKinds, async () => {
      count++;
      return facts();
    });

    expect(count).toBe(reads);
  });
});

describe("a rule that is deferred", () => {
  it.each<["node" | "namespace" | "target", Partial<RemediationRequestSpec>, string]>([
    ["node", { signalLabels: { node: "worker-2" } }, "node/worker-2"],
    ["node", {}, "node/worker-1"],
    ["node", { targetResource: { kind: "Node", name: "worker-3" } }, "node/worker-3"],
    ["namespace", {}, "namespace/payment"],
    ["namespace", { targetResource: { kind: "Namespace", name: "orders" } }, "namespace/orders"],
    ["target", {}, "payment/deployment/api-server"],
  ])("finds what it has in common with its cause: the %s of %j is %s", (same, given, within) => {
    const analysis = diagnose(incident(given), [rule({ deferWhile: { rule: "cause", same } })], builtInKinds, facts());

    expect(analysis).toMatchObject({ diagnosis: { deferWhile: { rules: ["cause"], within } } });
  });

  it.each<[string, Partial<RemediationRequestSpec>, string, boolean]>([
    ["an open incident of its cause on the same node", {}, "node/worker-1", true],
    ["one whose signal names the node", { signalLabels: { node: "worker-1" } }, "payment/pod/x", true],
    ["not for one on another node", {}, "node/worker-2", false],
  ])("waits for %s", (_what, spec, target, waits) => {
    const symptom = stored("symptom", incident(), {
      target: "a/pod/b",
      workflowId: "w",
      rule: "r",
      deferWhile: { rules: ["cause"], within: "node/worker-1" },
    });
    const cause = stored("cause-1", incident(spec), { target, workflowId: "w", rule: "cause" });

    expect(openCauses(symptom, [symptom, cause])).toEqual(
      waits ? [{ incident: "cause-1", rule: "cause", within: "node/worker-1" }] : [],
    );
  });

  it.each([
    ["no such rule", [deferred("a", "b")], ["rule a: deferWhile names the rule b, which does not exist"]],
    ["itself", [deferred("a", "a")], ["rule a is deferred in a cycle: a waits for a"]],
    [
      "a cycle",
      [deferred("a", "b"), deferred("b", "a")],
      [
        "rule a is deferred in a cycle: a waits for b waits for a",
        "rule b is deferred in a cycle: b waits for a waits for b",
      ],
    ],
    ["a chain", [deferred("a", "b"), deferred("b", "c"), rule({ name: "c" })], []],
  ])("for %s is checked", (_what, rules, problems) => {
    expect(deferralProblems(rules)).toEqual(problems);
  });
});

describe("a file of rules", () => {
  it.each([
    [
      "a fact that there is not",
      "match: { object: { mood: x } }",
      "match.object.mood is not a known field; there is labels",
    ],
    ["no facts at all", "match: { owner: {} }", "match.owner must have one or more of labels"],
    ["an expression that is none", "match: { owner: { labels: { a: '/(/' } } }", "match.owner.labels.a is not a valid"],
    ["conditions that are none", "match: { owner: { conditions: Ready } }", "match.owner.conditions must be names"],
    ["an empty exception", "match: { name: a }\n    unless: {}", "unless must say what the rule is for"],
    [
      "another ancestor",
      "match: { name: a }\n    deferWhile: { rule: b, same: rack }",
      "deferWhile.same must be one of node",
    ],
    ["no cause", "match: { name: a }\n    deferWhile: { same: node }", "deferWhile.rule is missing"],
  ])("with %s is refused", (_what, text, problem) => {
    const reading = readRules({ path: "r.yaml", text: `rules:\n  - name: r\n    workflow: w\n    ${text}\n` });

    expect(reading.kind === "invalid" && reading.problems.join("\n")).toContain(problem);
  });
});

function rule(given: Partial<Rule> = {}): Rule {
  return { name: "r", match: { signalName: "Crash" }, workflow: "w", ...given };
}

function deferred(name: string, cause: string): Rule {
  return rule({ name, deferWhile: { rule: cause, same: "node" } });
}

function incident(given: Partial<RemediationRequestSpec> = {}): RemediationRequestSpec {
  return {
    signalFingerprint: "v1:abc",
    signalName: "Crash",
    severity: "critical",
    targetResource: { kind: "Deployment", name: "api-server", namespace: "payment" },
    firingTime: "2026-03-01T12:00:00Z",
    receivedTime: "2026-03-01T12:00:01Z",
    ...given,
  };
}

function facts(): Facts {
  const nothing: ObjectFacts = {
    labels: {},
    annotations: {},
    conditions: {},
    lastTermination: [],
    waiting: [],
    managedBy: [],
  };
  const object = {
    ...nothing,
    labels: { tier: "front" },
    phase: "Running",
    lastTermination: ["OOMKilled"],
    waiting: ["CrashLoopBackOff"],
    node: "worker-1",
  };
  const owner = {
    ...nothing,
    annotations: { "team/contact": "payments" },
    conditions: { Available: "False" },
    managedBy: ["ArgoCD"],
  };
  return { object: { kind: "read", facts: object }, owner: { kind: "read", facts: owner } };
}

type Diagnosed = NonNullable<NonNullable<RemediationRequest["status"]>["diagnosis"]>;

function stored(name: string, spec: RemediationRequestSpec, diagnosis: Diagnosed): RemediationRequest {
  const metadata = { name, uid: name };
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "RemediationRequest",
    metadata,
    spec,
    status: { phase: "Analyzing", diagnosis },
  };
}
