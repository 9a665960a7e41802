import { Environment } from "@marcbachmann/cel-js";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/kube/index.ts";
import { ackIdentity, approvalIdentity, resumeIdentity, usualManifests } from "../../src/manifests/index.ts";
import { annotationKeys } from "../../src/resources/index.ts";

const { acknowledge, acknowledgedBy, cancelRequested, cancelRequestedBy, cancelBlocks } = annotationKeys;
const orchestrator = "system:serviceaccount:kubernaut-system:interlock-orchestrator";

/** The object before and after, the user, and whether it is allowed. `undefined`: it does not exist yet. */
type Change = [string, Annotations | undefined, Annotations, string, boolean];
type Annotations = Readonly<Record<string, string>>;
/** The status before and after, and who wants it. */
type StatusChange = [string, object | undefined, object, string, boolean];

describe("the policy about acknowledgements", () => {
  it.each<Change>([
    ["anything else by any user", {}, { note: "x" }, "bob", true],
    ["an acknowledgement in one's own name", {}, { [acknowledge]: "ok", [acknowledgedBy]: "kim" }, "kim", true],
    ["an acknowledgement in another's name", {}, { [acknowledge]: "ok", [acknowledgedBy]: "kim" }, "bob", false],
    ["an acknowledgement without a name", {}, { [acknowledge]: "ok" }, "bob", false],
    [
      "another name on an acknowledgement",
      { [acknowledge]: "ok", [acknowledgedBy]: "kim" },
      { [acknowledge]: "ok", [acknowledgedBy]: "eve" },
      "bob",
      false,
    ],
    [
      "something else beside another's acknowledgement",
      { [acknowledge]: "ok", [acknowledgedBy]: "kim" },
      { [acknowledge]: "ok", [acknowledgedBy]: "kim", note: "x" },
      "bob",
      true,
    ],
    ["a person's word, passed on", {}, { [acknowledge]: "ok", [acknowledgedBy]: "kim" }, orchestrator, true],
    ["a cancellation in one's own name", {}, { [cancelRequested]: "x", [cancelRequestedBy]: "kim" }, "kim", true],
    ["a cancellation in another's name", {}, { [cancelRequested]: "x", [cancelRequestedBy]: "kim" }, "bob", false],
    ["a cancellation without a name", {}, { [cancelRequested]: "x" }, "bob", false],
    [
      "a block added to another's cancellation",
      { [cancelRequested]: "x", [cancelRequestedBy]: "kim" },
      { [cancelRequested]: "x", [cancelRequestedBy]: "kim", [cancelBlocks]: "true" },
      "bob",
      false,
    ],
    [
      "an acknowledgement in one's own name with a cancellation in another's",
      {},
      { [acknowledge]: "ok", [acknowledgedBy]: "bob", [cancelRequested]: "x", [cancelRequestedBy]: "kim" },
      "bob",
      false,
    ],
    [
      "a cancellation that is passed on",
      {},
      { [cancelRequested]: "x", [cancelRequestedBy]: "kim" },
      orchestrator,
      true,
    ],
    ["something new without an acknowledgement", undefined, {}, "bob", true],
    [
      "something new that is acknowledged in another's name in advance",
      undefined,
      { [acknowledge]: "ok", [acknowledgedBy]: "kim" },
      "bob",
      false,
    ],
  ])("%s", (_, before, after, username, isAllowed) => {
    expect(isValid(before, after, username)).toBe(isAllowed);
  });

  it("checks creations as well as changes", () => {
    expect(specOf(ackIdentity(usualManifests.places)).matchConstraints.resourceRules[0]?.operations).toEqual([
      "CREATE",
      "UPDATE",
    ]);
  });
});

describe("the policy about approvals", () => {
  it.each<StatusChange>([
    ["an answer in one's own name", {}, { decision: "Approved", decidedBy: "kim" }, "kim", true],
    ["an answer in another's name", {}, { decision: "Approved", decidedBy: "kim" }, "bob", false],
    ["an answer without a name", {}, { decision: "Approved" }, "bob", false],
    [
      "another answer under another's name",
      { decision: "Rejected", decidedBy: "kim" },
      { decision: "Approved", decidedBy: "kim" },
      "bob",
      false,
    ],
    [
      "another answer in one's own name, after one has answered",
      { decision: "Rejected", decidedBy: "kim" },
      { decision: "Approved", decidedBy: "kim" },
      "kim",
      false,
    ],
    [
      "another reason in one's own name, after one has answered",
      { decision: "Approved", decidedBy: "kim", decisionMessage: "fine" },
      { decision: "Approved", decidedBy: "kim", decisionMessage: "urgent" },
      "kim",
      false,
    ],
    ["no answer any more", { decision: "Approved", decidedBy: "kim" }, {}, "kim", false],
    ["no answer any more, by the orchestrator", { decision: "Approved", decidedBy: "kim" }, {}, orchestrator, false],
    ["the end of its time, by the orchestrator", {}, { decision: "Expired" }, orchestrator, true],
    ["the end of its time, by a person", {}, { decision: "Expired" }, "bob", false],
    ["an answer by the orchestrator", {}, { decision: "Approved", decidedBy: "kim" }, orchestrator, false],
    [
      "something else beside another's answer",
      { decision: "Approved", decidedBy: "kim" },
      { decision: "Approved", decidedBy: "kim", conditions: [] },
      "bob",
      true,
    ],
  ])("%s", (_, before, after, username, isAllowed) => {
    expect(isValidStatus(approvalIdentity(usualManifests.places), before, after, username)).toBe(isAllowed);
  });
});

describe("the policy about ending pauses", () => {
  it.each<StatusChange>([
    ["an end in one's own name", undefined, { endedAt: "now", endedBy: "kim" }, "kim", true],
    ["an end in another's name", undefined, { endedAt: "now", endedBy: "kim" }, "bob", false],
    ["an end without a name", undefined, { endedAt: "now" }, "bob", false],
    ["nothing new", { endedAt: "now", endedBy: "kim" }, { endedAt: "now", endedBy: "kim" }, "bob", true],
  ])("%s", (_, before, after, username, isAllowed) => {
    expect(isValidStatus(resumeIdentity(), before, after, username)).toBe(isAllowed);
  });
});

interface Spec {
  readonly matchConstraints: { readonly resourceRules: readonly { readonly operations: readonly string[] }[] };
  readonly validations: readonly { readonly expression: string }[];
}

function specOf([policy]: readonly KubeObject[]): Spec {
  return (policy as unknown as { spec: Spec }).spec;
}

function isValid(before: Annotations | undefined, annotations: Annotations, username: string): unknown {
  return evaluate(ackIdentity(usualManifests.places), {
    oldObject: before ? { metadata: { annotations: before } } : null,
    object: { metadata: { annotations } },
    request: { userInfo: { username } },
  });
}

function isValidStatus(policy: readonly KubeObject[], before: object | undefined, status: object, username: string) {
  return evaluate(policy, {
    oldObject: before ? { status: before } : {},
    object: { status },
    request: { userInfo: { username } },
  });
}

function evaluate(policy: readonly KubeObject[], context: Readonly<Record<string, unknown>>): unknown {
  const environment = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true });
  return environment.parse(specOf(policy).validations[0]?.expression ?? "")(context);
}
