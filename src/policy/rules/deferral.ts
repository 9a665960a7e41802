import {
  type Diagnosis,
  isClosedIncident,
  type RemediationRequest,
  type RemediationRequestSpec,
} from "../../resources/index.ts";
import type { Facts, Unreadable } from "./facts.ts";
import { subjectNamespace } from "./match.ts";
import type { CommonAncestor, Rule } from "./rule.ts";

/** The causes for which an incident waits: open incidents of these rules with the same node, namespace or target. */
export type Deferral = NonNullable<Diagnosis["deferWhile"]>;

interface Symptom {
  readonly incident: RemediationRequestSpec;
  /** The diagnosed target. */
  readonly target: string;
  readonly facts: Facts;
}

/** Returns the causes for which an incident waits; undefined if its rule has none, or it has no such node or namespace. */
export function findDeferral({ deferWhile }: Rule, symptom: Symptom): Deferral | Unreadable | undefined {
  if (!deferWhile) return undefined;
  const within = ancestor(deferWhile.same, symptom);
  if (within === undefined || typeof within !== "string") return within;
  return { rules: typeof deferWhile.rule === "string" ? [deferWhile.rule] : [...deferWhile.rule], within };
}

function ancestor(same: CommonAncestor, { incident, target, facts }: Symptom): string | Unreadable | undefined {
  if (same === "target") return target;
  const known = [...listPlaces(incident, target)].find((place) => place.startsWith(`${same}/`));
  if (known !== undefined || same === "namespace" || incident.targetResource.kind === "") return known;
  const { object } = facts;
  if (object.kind === "unreadable") {
    return { kind: "unreadable", problem: `deferWhile needs the node of the object, which ${object.problem}` };
  }
  return object.facts.node === undefined ? undefined : `node/${object.facts.node}`;
}

/** An open incident of a cause. */
export interface OpenCause {
  readonly incident: string;
  readonly rule: string;
  /** What it has in common with the incident that waits for it. */
  readonly within: string;
}

/** Returns the open incidents for which an incident has to wait. */
export function openCauses(
  { metadata, status }: RemediationRequest,
  incidents: readonly RemediationRequest[],
): readonly OpenCause[] {
  const { rules, within } = status?.diagnosis?.deferWhile ?? { rules: [], within: "" };
  return incidents.flatMap((other) => {
    const { diagnosis } = other.status ?? {};
    if (!diagnosis?.rule || !rules.includes(diagnosis.rule) || other.metadata.uid === metadata.uid) return [];
    if (!isOpen(other) || !listPlaces(other.spec, diagnosis.target).has(within)) return [];
    return [{ incident: other.metadata.name ?? "", rule: diagnosis.rule, within }];
  });
}

function isOpen(incident: RemediationRequest): boolean {
  return incident.metadata.deletionTimestamp === undefined && !isClosedIncident(incident);
}

/** Returns the target, the node and the namespace of an incident, in the form of targets. */
function listPlaces(incident: RemediationRequestSpec, target: string): ReadonlySet<string> {
  const { kind, name } = incident.targetResource;
  const node = kind.toLowerCase() === "node" ? name : incident.signalLabels?.["node"];
  const [first, ...rest] = target.split("/");
  const namespace = rest.length === 2 ? first : subjectNamespace(incident);
  return new Set([
    target,
    ...(node === undefined ? [] : [`node/${node}`]),
    ...(namespace === undefined ? [] : [`namespace/${namespace}`]),
  ]);
}
