import { expect, it } from "vitest";
import { builtInKinds, type RemediationRequestSpec } from "../../resources/index.ts";
import { distinctLabels } from "./distinct-labels.ts";
import type { Rule } from "./rule.ts";

const clean: Rule = {
  name: "clean",
  match: { signalName: "DiskFull" },
  workflow: "clean",
  parameters: { path: "{{ labels.mountpoint }}", keep: 3 },
};

it.each<[string, readonly Rule[], readonly string[]]>([
  ["a label in a parameter of its rule", [clean], ["mountpoint"]],
  ["a label in the target of its rule", [{ ...clean, parameters: {}, target: "node/{{ labels.node }}" }], ["node"]],
  ["no label of a rule for other signals", [{ ...clean, match: { signalName: "Other" } }], []],
  [
    "the labels of the first rule that applies",
    [{ ...clean, parameters: { device: "{{ labels.device }}" } }, clean],
    ["device"],
  ],
  [
    "the labels of rules for other severities, because the severity may change",
    [{ ...clean, match: { signalName: "DiskFull", severity: "critical" } }],
    ["mountpoint"],
  ],
  [
    "the labels of rules that ask for facts, and of those after them",
    [{ ...clean, match: { object: { phase: "Failed" } }, parameters: { device: "{{ labels.device }}" } }, clean],
    ["device", "mountpoint"],
  ],
  [
    "no annotation, whose text may change with every report",
    [{ ...clean, parameters: { a: "{{ annotations.x }}" } }],
    [],
  ],
])("a signal is distinguished by %s", (_what, rules, labels) => {
  expect(distinctLabels(incident(), rules, builtInKinds)).toEqual(labels);
});

function incident(): RemediationRequestSpec {
  return {
    signalFingerprint: "",
    signalName: "DiskFull",
    severity: "warning",
    targetResource: { kind: "Node", name: "worker-1" },
    firingTime: "",
    receivedTime: "",
    signalLabels: { mountpoint: "/var", device: "sda1", node: "worker-1" },
  };
}
