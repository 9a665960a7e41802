import { describe, expect, it } from "vitest";
import { builtInKinds, type RemediationWorkflow } from "../../resources/index.ts";
import { alertmanager, generic } from "../../sources/index.ts";
import { readRules } from "../rules/rule.ts";
import { defaultPolicy } from "../settings.ts";
import { checkExpectation } from "./check-expectation.ts";
import { readExpectations } from "./read-expectations.ts";

const rules = `rules:
  - name: full-disk
    match: { signalName: DiskFull }
    target: node/{{ labels.node }}
    workflow: cleanup
    parameters: { keepDays: "7" }
  - name: given
    match: { signalName: Given }
    target: node/given
    workflow: cleanup
  - name: host-down
    match: { signalName: HostDown, kind: Node }
    workflow: cleanup
  - name: broken
    match: { signalName: Broken }
    workflow: nowhere
  - name: too-much
    match: { signalName: TooMuch }
    workflow: cleanup
    parameters: { colour: red }
`;

const disk = `
  - name: disk
    signal: { name: DiskFull, target: payment/deployment/api, labels: { node: worker-1 } }`;

describe("an expectation", () => {
  it.each([
    ["rule: full-disk", []],
    ["target: node/worker-1", []],
    ["{ workflow: cleanup, parameters: { keepDays: '7' } }", []],
    ["decision: allow", []],
    ["rule: other", [["rule", "other", "full-disk"]]],
    ["target: node/worker-2", [["target", "node/worker-2", "node/worker-1"]]],
    ["workflow: restart", [["workflow", "restart", "cleanup"]]],
    ["parameters: { keepDays: '8' }", [["parameters", '{"keepDays":"8"}', '{"keepDays":"7"}']]],
    ["parameters: {}", [["parameters", "{}", '{"keepDays":"7"}']]],
    ["decision: Paused", [["decision", "Paused", "allow (may run now)"]]],
    ["until: 2026-01-01T00:00:00Z", [["until", "2026-01-01T00:00:00.000Z", "no known time (may run now)"]]],
    ["no match", [["rule", "no match", "rule full-disk: cleanup on node/worker-1"]]],
  ])("of %s is compared with the diagnosis of the rules", (expected, differences) => {
    expect(outcome(`tests:${disk}\n    expect: ${expected.includes(":") ? block(expected) : expected}`)).toEqual(
      differences,
    );
  });

  it("is no match for an alert without an object and a rule that needs one", () => {
    const text = `tests:\n  - name: x\n    alert: { labels: { alertname: DiskFull, device: sda } }\n    expect: no match`;

    expect(outcome(text)).toEqual([]);
  });

  it("has the host of a node exporter's alert as the subject", () => {
    const labels = "{ alertname: HostDown, job: node, instance: 'worker-1:9100' }";
    const text = `tests:\n  - name: x\n    alert: { labels: ${labels} }\n    expect: { target: node/worker-1 }`;

    expect(outcome(text)).toEqual([]);
  });

  it("is met by a rule with a target for an alert without an object", () => {
    const text = `tests:\n  - name: x\n    alert: { labels: { alertname: Given } }\n    expect: { target: node/given }`;

    expect(outcome(text)).toEqual([]);
  });

  it("reports why each rule did not apply if no rule matches", () => {
    const text = `tests:\n  - name: other\n    signal: { name: Other, target: node/a }\n    expect: { rule: full-disk }`;

    expect(outcome(text)[0]?.[2]).toContain("none: full-disk (signalName is Other), given (");
  });

  it("is met only if the workflow accepts the parameters", () => {
    const test = (name: string) =>
      `tests:\n  - name: x\n    signal: { name: ${name}, target: node/a }\n    expect: { workflow: ${name === "Broken" ? "nowhere" : "cleanup"} }`;

    expect(outcome(test("Broken"))).toEqual([["workflow nowhere", "is in the catalog", "is not"]]);
    expect(outcome(test("TooMuch"))).toEqual([
      ["workflow cleanup", "can be run so", expect.stringContaining("colour")],
    ]);
  });

  it("is met only if the workflow accepts the target", () => {
    const text = `tests:${disk.replace("DiskFull", "Pod")}\n    expect: { rule: pods }`;
    const pods = `rules:\n  - name: pods\n    match: { signalName: Pod }\n    workflow: cleanup\n`;

    expect(outcome(text, pods)).toEqual([
      ["workflow cleanup", "can be run so", "workflow cleanup is not for a deployment: it fits node"],
    ]);
  });

  it("has the given owner as the target, like in the gateway", () => {
    const text = `tests:
  - name: a pod
    alert: { labels: { alertname: Crash, namespace: payment, pod: api-5d9c } }
    owner: payment/deployment/api
    expect: { target: payment/deployment/api }`;
    const owned = `rules:\n  - name: r\n    match: { kind: Deployment }\n    workflow: restart\n`;

    expect(outcome(text, owned)).toEqual([["workflow restart", "is in the catalog", "is not"]]);
  });
});

describe("a file of expectations", () => {
  it.each([
    ["{}", "e.yaml:1: tests must be a list of tests"],
    [`tests:${disk}\n    expect: {}`, 'e.yaml:4: tests[0].expect must be "no match", or one or more of rule'],
    [`tests:${disk}\n    expect: maybe`, 'e.yaml:4: tests[0].expect must be "no match", or one or more of rule'],
    [`tests:${disk}`, 'e.yaml:2: tests[0].expect must be "no match", or one or more of rule'],
    [`tests:${disk}\n    expect: { target: 7 }`, "e.yaml:4: tests[0].expect.target must be text, not a number"],
    [`tests:${disk}\n    expect: { rul: x }`, "e.yaml:4: tests[0].expect.rul is not a known field; did you mean rule?"],
    [
      `tests:${disk}\n    expect: { decision: maybe }`,
      "e.yaml:4: tests[0].expect.decision must be one of allow, NoMatchingRule",
    ],
    [`tests:${disk}\n    expect: { until: soon }`, "e.yaml:4: tests[0].expect.until must be a time"],
    [`tests:\n  - name: x\n    expect: no match`, "e.yaml:2: tests[0] must have a signal or an alert, not both"],
    [
      `tests:\n  - name: x\n    signal: { name: A }\n    expect: no match`,
      "e.yaml:3: tests[0].signal cannot be read: target",
    ],
    [
      `tests:\n  - name: x\n    alert: { labels: { pod: a } }\n    expect: no match`,
      "e.yaml:3: tests[0].alert cannot be read: alerts[0].labels.alertname",
    ],
    [
      `tests:${disk}\n    given: { record: {} }\n    expect: no match`,
      "e.yaml:4: tests[0].given needs the time of the decision",
    ],
    [
      `tests:${disk}\n    given: { now: 2026-01-01T00:00:00Z, record: { holdr: {} } }\n    expect: no match`,
      "e.yaml:4: tests[0].given.record.holdr is not a known field; did you mean holder?",
    ],
    [
      `tests:${disk}\n    given: { now: 2026-01-01T00:00:00Z, pauses: [{ scope: All }] }\n    expect: no match`,
      "e.yaml:4: tests[0].given.pauses[0].reason is missing",
    ],
    [`tests:${disk}\n    owner: widget/one\n    expect: no match`, 'e.yaml:4: tests[0].owner has the kind "widget"'],
    [`tests:${disk}\n    owner: git:h/p@main\n    expect: no match`, "e.yaml:4: tests[0].owner is a repository"],
    [
      `tests:${disk}\n    facts: { object: { labels: [] } }\n    expect: no match`,
      "object.labels must be names with values",
    ],
    [
      `tests:${disk}\n    given: { incidents: [{ target: node/a }] }\n    expect: no match`,
      "incidents[0].rule is missing",
    ],
  ])("%# is refused with file and line: %s", (text, problem) => {
    const reading = readExpectations({ path: "e.yaml", text }, options);

    expect(reading.kind === "invalid" && reading.problems.join("\n")).toContain(problem);
  });
});

const options = { kinds: builtInKinds, signals: generic, alerts: alertmanager };

function block(text: string): string {
  return text.startsWith("{") ? text : `{ ${text} }`;
}

/** What came out otherwise: what, expected, found. */
function outcome(text: string, rulesText = rules): readonly (readonly [string, string, string])[] {
  const read = readRules({ path: "r.yaml", text: rulesText });
  if (read.kind === "invalid") throw new Error(read.problems.join("\n"));
  const reading = readExpectations({ path: "e.yaml", text }, options);
  if (reading.kind === "invalid") throw new Error(reading.problems.join("\n"));
  const [expectation] = reading.expectations;
  if (!expectation) throw new Error("no expectation");
  const workflow = (id: string) => (id === "cleanup" ? cleanup : undefined);
  const checked = checkExpectation(expectation, {
    rules: read.rules,
    workflow,
    kinds: builtInKinds,
    settings: defaultPolicy,
  });
  return checked.differences.map(({ what, expected, found }) => [what, expected, found] as const);
}

const cleanup: RemediationWorkflow = {
  apiVersion: "kubernaut.ai/v1alpha1",
  kind: "RemediationWorkflow",
  metadata: { name: "cleanup-1" },
  spec: {
    workflowId: "cleanup",
    version: "1.0.0",
    description: "Cleans up.",
    containerImage: "cleanup",
    pipeline: "workflow",
    targetKinds: ["node"],
    parameters: { properties: { keepDays: { type: "string" } } },
  },
};
