import { isDeepStrictEqual } from "node:util";
import type { RemediationRequestSpec } from "../../resources/index.ts";
import { labelsUsedBy } from "../rules/distinct-labels.ts";
import type { Rule } from "../rules/rule.ts";

/** Labels that usually name a part of the subject of an alert, such as one file system of a node. */
const partLabels = [
  "mountpoint",
  "persistentvolumeclaim",
  "database",
  "datname",
  "queue",
  "topic",
  "partition",
  "interface",
];

/** Labels that distinguish Pods and scrapes, or may change: one incident covers all their values. */
const commonLabels = new Set([
  "severity",
  "pod",
  "instance",
  "job",
  "endpoint",
  "service",
  "uid",
  "prometheus",
  "replica",
]);

/**
 * Returns the labels that `rule` drops: signals that differ only in these become one incident and one execution. `signals` are
 * those that the tests match with this rule.
 */
export function droppedLabels(rule: Rule, signals: readonly RemediationRequestSpec[]): readonly string[] {
  const used = new Set([...labelsUsedBy(rule), ...Object.keys(rule.match.labels ?? {}), ...commonLabels]);
  const names = [...signals.flatMap(partsNamed), ...differences(signals)];
  return [...new Set(names)].filter((name) => !used.has(name)).sort();
}

function partsNamed({ signalLabels = {}, targetResource }: RemediationRequestSpec): readonly string[] {
  return partLabels.filter((name) => Object.hasOwn(signalLabels, name) && signalLabels[name] !== targetResource.name);
}

/** Returns the labels in which signals of one incident differ. */
function differences(signals: readonly RemediationRequestSpec[]): readonly string[] {
  return signals.flatMap((one, i) =>
    signals.slice(i + 1).flatMap((other) => (isSameIncident(one, other) ? differentLabels(one, other) : [])),
  );
}

function isSameIncident(one: RemediationRequestSpec, other: RemediationRequestSpec): boolean {
  const identity = ({ signalSource, signalName, targetResource }: RemediationRequestSpec) => {
    return [signalSource, signalName, targetResource];
  };
  return isDeepStrictEqual(identity(one), identity(other));
}

function differentLabels(
  { signalLabels: one = {} }: RemediationRequestSpec,
  { signalLabels: other = {} }: RemediationRequestSpec,
): readonly string[] {
  const names = Object.keys(one).filter((name) => Object.hasOwn(other, name));
  return names.filter((name) => one[name] !== other[name]);
}
