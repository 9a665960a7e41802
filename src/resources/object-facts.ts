import type { KubeObject } from "../kube/index.ts";

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

/** Extracts the facts of an object. Fields with an unexpected shape are left out. */
export function objectFacts({ metadata, ...rest }: KubeObject): ObjectFacts {
  const { labels = {}, annotations = {} } = metadata;
  const { spec, status } = rest as { readonly spec?: unknown; readonly status?: unknown };
  const containers = [...list(status, "initContainerStatuses"), ...list(status, "containerStatuses")];
  const phase = text(field(status, "phase"));
  const node = text(field(spec, "nodeName"));
  return {
    labels,
    annotations,
    conditions: readConditions(status),
    ...(phase === undefined ? {} : { phase }),
    lastTermination: readReasons(containers, ["state", "terminated"], ["lastState", "terminated"]),
    waiting: readReasons(containers, ["state", "waiting"]),
    managedBy: readManagers(labels, annotations),
    ...(node === undefined ? {} : { node }),
  };
}

function readConditions(status: unknown): Readonly<Record<string, string>> {
  const pairs = list(status, "conditions").flatMap((condition) => {
    const type = text(field(condition, "type"));
    const is = text(field(condition, "status"));
    return type !== undefined && is !== undefined ? [[type, is] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function readReasons(
  containers: readonly unknown[],
  ...states: readonly (readonly [string, string])[]
): readonly string[] {
  const reasons = containers.flatMap((container) =>
    states.map(([state, kind]) => text(field(field(field(container, state), kind), "reason"))),
  );
  return [...new Set(reasons.filter((reason) => reason !== undefined))];
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

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function list(value: unknown, name: string): readonly unknown[] {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
