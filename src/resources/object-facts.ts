import type { KubeObject } from "../kube/index.ts";
import { listOf, optionalText, part, type z } from "../schema/index.ts";

/** The facts about an object that rules can use. */
export interface ObjectFacts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The status of each condition by its type: `True`, `False` or `Unknown`. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly phase?: string;
  /** The reasons of the latest terminations of a Pod's containers, such as OOMKilled. */
  readonly lastTermination: readonly string[];
  /** The reasons for which containers of a Pod wait, such as ImagePullBackOff. */
  readonly waiting: readonly string[];
  /** The tools that would undo changes made by hand: Helm, ArgoCD, Flux, or the value of the label. */
  readonly managedBy: readonly string[];
  /** The node on which a Pod runs. */
  readonly node?: string;
}

const reason = part({ reason: optionalText });
const container = part({
  state: part({ terminated: reason, waiting: reason }),
  lastState: part({ terminated: reason }),
});
const facts = part({
  spec: part({ nodeName: optionalText }),
  status: part({
    conditions: listOf(part({ type: optionalText, status: optionalText })),
    phase: optionalText,
    initContainerStatuses: listOf(container),
    containerStatuses: listOf(container),
  }),
});

/** Extracts the facts of an object. Fields with an unexpected shape are left out. */
export function objectFacts(object: KubeObject): ObjectFacts {
  const { labels = {}, annotations = {} } = object.metadata;
  const { spec, status } = facts.parse(object);
  const { conditions, phase } = status;
  const containers = [...status.initContainerStatuses, ...status.containerStatuses];
  return {
    labels,
    annotations,
    conditions: Object.fromEntries(conditions.flatMap(({ type, status }) => (type && status ? [[type, status]] : []))),
    ...(phase === undefined ? {} : { phase }),
    lastTermination: distinct(containers.flatMap(({ state, lastState }) => [state.terminated, lastState.terminated])),
    waiting: distinct(containers.map(({ state }) => state.waiting)),
    managedBy: readManagers(labels, annotations),
    ...(spec.nodeName === undefined ? {} : { node: spec.nodeName }),
  };
}

function distinct(found: readonly z.output<typeof reason>[]): readonly string[] {
  return [...new Set(found.flatMap(({ reason }) => reason ?? []))];
}

/** Some tools have labels or annotations of their own; the common label names any other tool. */
function readManagers(
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): readonly string[] {
  const marks: readonly (readonly [string, boolean])[] = [
    ["Helm", "meta.helm.sh/release-name" in annotations],
    ["ArgoCD", "argocd.argoproj.io/tracking-id" in annotations || "argocd.argoproj.io/instance" in labels],
    ["Flux", "kustomize.toolkit.fluxcd.io/name" in labels || "helm.toolkit.fluxcd.io/name" in labels],
  ];
  const named = labels["app.kubernetes.io/managed-by"];
  const found = marks.filter(([, isMarked]) => isMarked).map(([tool]) => tool);
  return [...new Set(named === undefined ? found : [...found, named])];
}
