import { expect, it } from "vitest";
import type { RemediationRequestSpec } from "../../resources/index.ts";
import type { Rule } from "../rules/rule.ts";
import { droppedLabels } from "./dropped-labels.ts";

const rule: Rule = { name: "clean", match: { signalName: "DiskFull" }, workflow: "clean" };

it.each<[string, Rule, readonly Readonly<Record<string, string>>[], readonly string[]]>([
  ["a mountpoint that no parameter has", rule, [{ mountpoint: "/var" }], ["mountpoint"]],
  ["a label in which two tests of one incident differ", rule, [{ shard: "1" }, { shard: "2" }], ["shard"]],
  ["no label that is the same in all tests", rule, [{ team: "a" }, { team: "a" }], []],
  [
    "no label that a parameter has",
    { ...rule, parameters: { path: "{{ labels.mountpoint }}" } },
    [{ mountpoint: "/var" }],
    [],
  ],
  [
    "no label that the rule matches on",
    { ...rule, match: { labels: { mountpoint: "/var" } } },
    [{ mountpoint: "/var" }],
    [],
  ],
  ["no name of a Pod, which one incident covers", rule, [{ pod: "api-1" }, { pod: "api-2" }], []],
])("a rule drops %s", (_what, given, labels, dropped) => {
  expect(droppedLabels(given, labels.map(incident))).toEqual(dropped);
});

function incident(signalLabels: Readonly<Record<string, string>>): RemediationRequestSpec {
  const targetResource = { kind: "Node", name: "worker-1" };
  const common = { signalFingerprint: "", severity: "warning", firingTime: "", receivedTime: "" };
  return { ...common, signalName: "DiskFull", targetResource, signalLabels };
}
