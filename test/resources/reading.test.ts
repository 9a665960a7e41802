import { describe, expect, expectTypeOf, it } from "vitest";
import { parse } from "yaml";
import {
  type closedIncidentPhases,
  type executionTransitions,
  type Kind,
  notificationRequests,
  type RemediationRequestStatus,
  read,
  remediationWorkflows,
  resourceKinds,
  type SkipDetails,
  type SkipReason,
  type WorkflowExecutionStatus,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { executionSample, object, samplesOf } from "./samples.ts";

describe("a valid object", () => {
  it.each(resourceKinds.flatMap((kind) => samplesOf(kind).map((sample) => ({ name: titleOf(sample), kind, sample }))))(
    "is accepted: $name",
    ({ kind, sample }) => {
      expect(read(kind, sample)).toEqual({ kind: "valid", object: sample, strayFields: [] });
    },
  );

  it("may be the notice of the seed, field by field", () => {
    const notice = parse(`
kind: NotificationRequest
spec:
  eventType: "WorkflowSkipped"
  severity: "info"
  message: "Workflow execution skipped: Another workflow is remediating this resource"
  context:
    workflowId: "node-disk-cleanup"
    targetResource: "node/worker-node-1"
    skipReason: "ResourceBusy"
    conflictingWorkflow: "workflow-node-disk-001"
`);

    expect(read(notificationRequests, object(notificationRequests, notice)).kind).toBe("valid");
  });

  it.each(["payment/deployment/payment-api", "node/worker-node-1", "kube-system/configmap/coredns"])(
    "may act on the target %s",
    (targetResource) => {
      const { spec } = executionSample();

      expect(sentences(workflowExecutions, { spec: { ...spec, targetResource } })).toEqual([]);
    },
  );

  it("gets the defaults that a server would fill in", () => {
    const { pipeline: _, ...spec } = Reflect.get(samplesOf(remediationWorkflows)[0] as object, "spec");

    const reading = read(remediationWorkflows, object(remediationWorkflows, { spec }));

    expect(reading).toMatchObject({ kind: "valid", object: { spec: { pipeline: "workflow" } } });
  });

  it("may have fields of a newer version: they are listed, and left out", () => {
    const sample = executionSample();
    const written = { ...sample, spec: { ...sample.spec, priority: 3 } };

    const reading = read(workflowExecutions, written);

    expect(reading).toEqual({
      kind: "valid",
      object: sample,
      strayFields: [
        expect.objectContaining({
          path: "spec.priority",
          wrong: expect.stringMatching(/^is not a known field; there is /),
        }),
      ],
    });
  });
});

describe("an object with mistakes", () => {
  const { spec } = executionSample();

  it.each<[string, object, string[]]>([
    ["nothing in it", {}, ["spec is missing"]],
    ["a spec that is a list", { spec: [] }, ["spec must be an object, not a list"]],
    ["no target", { spec: { ...spec, targetResource: undefined } }, ["spec.targetResource is missing"]],
    [
      "a target without a kind",
      { spec: { ...spec, targetResource: "payment-api" } },
      ["spec.targetResource must be namespace/kind/name or kind/name, or git:host/path@branch"],
    ],
    [
      "an empty target",
      { spec: { ...spec, targetResource: "" } },
      expect.arrayContaining(["spec.targetResource must not be empty"]),
    ],
    [
      "several at once",
      { spec: { workflowRef: { workflowId: "Node Cleanup", containerImage: 7 } } },
      [
        "spec.workflowRef.workflowId must be lower-case letters, digits, - and ., beginning and ending with a letter or digit",
        "spec.workflowRef.containerImage must be text, not a number",
        "spec.targetResource is missing",
      ],
    ],
    [
      "an engine that we do not have",
      { spec: { ...spec, workflowRef: { ...spec.workflowRef, engine: "ansible" } } },
      ["spec.workflowRef.engine must be one of tekton, job, local"],
    ],
    [
      "a parameter that is an object",
      { spec: { ...spec, parameters: { limits: { cpu: 1 } } } },
      ["spec.parameters.limits must be text, a number, true, false or a list of texts"],
    ],
    [
      "a parameter with a strange name",
      { spec: { ...spec, parameters: { "a b": "x" } } },
      ['spec.parameters["a b"] must be a parameter\'s name: letters, digits, _, - and ., beginning with a letter'],
    ],
    [
      "a phase that does not exist",
      { spec, status: { phase: "Done" } },
      ["status.phase must be one of Pending, Running, Completed, Failed, Skipped"],
    ],
    ["a phase without its facts", { spec, status: { phase: "Skipped" } }, ["status.skipDetails is missing"]],
    [
      "a skip without the holder",
      { spec, status: { phase: "Skipped", skipDetails: { reason: "ResourceBusy", message: "x", skippedAt: "now" } } },
      [
        "status.skipDetails.skippedAt must be a time such as 2026-11-15T06:00:00Z",
        "status.skipDetails.conflictingWorkflow is missing",
      ],
    ],
    [
      "a list with a mistake in it",
      { spec, status: { phase: "Pending", conditions: [{ type: "Ready", status: "yes" }] } },
      expect.arrayContaining(["status.conditions[0].status must be one of True, False, Unknown"]),
    ],
    [
      "mistakes and unknown fields",
      { spec: { ...spec, targetresource: "node/w1", targetResource: undefined } },
      ["spec.targetResource is missing", "spec.targetresource is not a known field; did you mean targetResource?"],
    ],
  ])("is refused with a path and a sentence: %s", (_what, content, expected) => {
    expect(sentences(workflowExecutions, content)).toEqual(expected);
  });

  it.each<[string, object, string]>([
    [
      "shared access",
      { exclusiveAccess: false },
      "spec.exclusiveAccess must be true: sharing a target is not supported yet",
    ],
    ["lock groups", { lockGroups: ["reads"] }, "spec.lockGroups must be empty: lock groups are not supported yet"],
    ["a cooldown without unit", { cooldown: "300" }, "spec.cooldown must be a duration such as 500ms, 30s or 1h30m"],
    ["no kind of target", { targetKinds: [] }, "spec.targetKinds must have at least 1 entry"],
  ])("is refused as a workflow that asks for %s", (_what, change, sentence) => {
    const [sample] = samplesOf(remediationWorkflows);

    const spec = { ...Reflect.get(sample as object, "spec"), ...change };

    expect(sentences(remediationWorkflows, { spec })).toEqual([sentence]);
  });

  it("is refused if it is of another kind", () => {
    expect(read(notificationRequests, executionSample())).toMatchObject({
      kind: "invalid",
      problems: expect.arrayContaining([
        expect.objectContaining({ path: "kind", sentence: "kind must be NotificationRequest" }),
      ]),
    });
  });

  it.each([[undefined], [null], ["text"], [[]], [7]])("is refused if it is not an object: %j", (value) => {
    expect(read(workflowExecutions, value).kind).toBe("invalid");
  });

  it("does not repeat values in problems", () => {
    const secret = "hunter2";
    const spec = { workflowRef: secret, targetResource: secret, parameters: { password: { secret } } };

    expect(JSON.stringify(sentences(workflowExecutions, { spec }))).not.toContain(secret);
  });
});

describe("the types", () => {
  it("have the fields of each phase", () => {
    type Failed = Extract<WorkflowExecutionStatus, { phase: "Failed" }>;

    expectTypeOf<Failed["failureDetails"]["wasExecutionFailure"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Extract<WorkflowExecutionStatus, { phase: "Pending" }>>().not.toHaveProperty("startTime");
    expectTypeOf<Extract<SkipDetails, { reason: "ResourceBusy" }>>().toHaveProperty("conflictingWorkflow");
  });

  it("agree with the tables", () => {
    expectTypeOf<keyof typeof executionTransitions>().toEqualTypeOf<WorkflowExecutionStatus["phase"]>();
    expectTypeOf<(typeof closedIncidentPhases)[number]>().toExtend<RemediationRequestStatus["phase"]>();
    expectTypeOf<SkipDetails["reason"]>().toEqualTypeOf<SkipReason>();
  });
});

function sentences(kind: Kind, content: object): string[] {
  const reading = read(kind, object(kind, content));
  return reading.kind === "invalid" ? reading.problems.map(({ sentence }) => sentence) : [];
}

function titleOf(sample: object): string {
  const { kind, spec, status } = sample as { kind: string; spec: { scope?: string; type?: string }; status?: object };
  const variant = spec.scope ?? spec.type ?? "";
  return [kind, variant, status ? JSON.stringify(status).slice(0, 60) : "without status"].filter(Boolean).join(" ");
}
