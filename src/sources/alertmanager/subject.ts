import { builtInKinds, type NodeHint, type ObjectReference, toObjectTarget } from "../../resources/index.ts";
import { parseReference } from "../json.ts";
import { nodeHint } from "./node-hint.ts";
import {
  builtInReporters,
  findReporter,
  hasDiscoveredNode,
  type Labels,
  type Reporter,
  type SubjectStep,
} from "./reporters.ts";

/** The subject that the labels of an alert name. */
export type SubjectFinding =
  | {
      readonly kind: "object";
      readonly subject: ObjectReference;
      /** The alternative if the kind of `subject` is unknown in this cluster. */
      readonly coarser?: ObjectReference;
      /** Labels that distinguish alerts of one name, because the subject is coarser than their cause. */
      readonly distinctBy?: readonly string[];
    }
  | { readonly kind: "node"; readonly hint: NodeHint }
  | { readonly kind: "none"; readonly because: string };

/** In a rule's labels or annotations: the subject as the author writes it, such as `payment/deployment/payment-api`. */
const explicit = "interlock_target";

/** Labels that distinguish alerts about a whole namespace, or about no object. */
export const distinguishing: readonly string[] = ["job", "service"];

/**
 * Finds the subject of an alert. Prometheus adds the scraped endpoint to the labels of a sample, so `namespace`, `pod`,
 * `service` and `node` may name the exporter. The table in `reporters.ts` defines which of them count; if that is not
 * certain, no object is named rather than a wrong one.
 */
export function findSubject(
  labels: Labels,
  annotations: Labels,
  rows: readonly Reporter[] = builtInReporters,
): SubjectFinding {
  const written = annotations[explicit] || labels[explicit];
  if (written) {
    const subject = parseReference(written);
    if (subject) return { kind: "object", subject };
    return { kind: "none", because: `${explicit} is not written as namespace/kind/name or kind/name` };
  }

  const row = findReporter(labels, rows);
  const sample = { row, labels, own: ownLabels(labels, row) };
  for (const step of row.subject) {
    const found = steps[step as keyof typeof steps]?.(sample) ?? labelAsKind(step, sample);
    if (found) return found;
  }
  return { kind: "none", because: row.otherwise };
}

/** The label or the row of the table that decides about the subject, for display. */
export function subjectOrigin(labels: Labels, annotations: Labels, rows: readonly Reporter[]): string {
  if (annotations[explicit]) return `annotation ${explicit}`;
  if (labels[explicit]) return `label ${explicit}`;
  return `row "${findReporter(labels, rows).name}" of the label provenance table`;
}

interface Sample {
  readonly row: Reporter;
  /** All labels of the alert. */
  readonly labels: Labels;
  /** The labels of the sample: without those of the exporter, and with the original names of renamed ones. */
  readonly own: Labels;
}

function ownLabels(labels: Labels, { scrape }: Reporter): Labels {
  const renamed = Object.keys(labels).filter((label) => label.startsWith("exported_"));
  const isAboutOthers = scrape.some((label) => identifying.has(label) && labels[`exported_${label}`]);
  const own: Record<string, string> = { ...labels };
  if (isAboutOthers) for (const label of scrape) delete own[label];
  if (scrape.length > 0) for (const label of renamed) own[label.slice("exported_".length)] = labels[label] as string;
  return own;
}

/** If one of these was renamed, the sample is about another object. A renamed `job` or `instance` does not show that. */
const identifying: ReadonlySet<string> = new Set(["namespace", "pod", "node"]);

const steps = {
  objects: namedObject,
  pod: ({ own }: Sample) =>
    object("Pod", own["pod"], own["namespace"]) ??
    object("Pod", own["kubernetes_pod_name"], own["kubernetes_namespace"]),
  "foreign-pod": (sample: Sample) =>
    isScrapedPod(sample) ? undefined : object("Pod", sample.own["pod"], sample.own["namespace"]),
  service: ({ own }: Sample) =>
    object("Service", own["service"], own["namespace"]) ??
    object("Service", own["kubernetes_name"], own["kubernetes_namespace"]),
  endpoints: ({ own }: Sample) =>
    own["instance"] || own["pod"] ? undefined : object("Service", own["service"], own["namespace"]),
  node: ({ own }: Sample) => object("Node", own["node"] || own["nodename"]),
  "evident-node": ({ own, labels }: Sample) =>
    hasDiscoveredNode(own) && !labels["exported_node"] && !isAboutNode(own) ? undefined : object("Node", own["node"]),
  host,
  namespace: ({ own }: Sample) => wholeNamespace(own["namespace"] || own["kubernetes_namespace"]),
  "sample-namespace": (sample: Sample) =>
    isSampleNamespace(sample) ? wholeNamespace(sample.own["namespace"]) : undefined,
  "exported-namespace": ({ labels }: Sample) => wholeNamespace(labels["exported_namespace"]),
} satisfies Partial<Record<SubjectStep, (sample: Sample) => SubjectFinding | undefined>>;

/** Labels that always name an object. An owner comes before its objects. */
const objectLabels: Readonly<Record<string, string>> = {
  deployment: "Deployment",
  statefulset: "StatefulSet",
  daemonset: "DaemonSet",
  cronjob: "CronJob",
  job_name: "Job",
  replicaset: "ReplicaSet",
  replicationcontroller: "ReplicationController",
  horizontalpodautoscaler: "HorizontalPodAutoscaler",
  hpa: "HorizontalPodAutoscaler",
  poddisruptionbudget: "PodDisruptionBudget",
  persistentvolumeclaim: "PersistentVolumeClaim",
  persistentvolume: "PersistentVolume",
  resourcequota: "ResourceQuota",
  ingress: "Ingress",
};

/**
 * All kinds that labels can name by the built-in table. The gateway's role must allow it to read objects of the built-in ones.
 * A kind with braces is the value of another label, so it is not listed.
 */
export const derivedKinds: readonly string[] = [
  ...new Set([
    ...Object.values(objectLabels),
    ...["Pod", "Service", "Node", "Namespace"],
    ...builtInReporters.flatMap(({ subject }) => subject.flatMap((step) => step.split("=")[1] ?? [])),
  ]),
].filter((kind) => !kind.includes("{"));

function namedObject({ own }: Sample): SubjectFinding | undefined {
  for (const [label, kind] of Object.entries(objectLabels)) {
    const found = object(kind, own[label], own["namespace"]);
    if (found) return found;
  }
  return (
    object(own["workload_type"] ?? "", own["workload"], own["namespace"]) ??
    object("Pod", own["container_label_io_kubernetes_pod_name"], own["container_label_io_kubernetes_pod_namespace"])
  );
}

/** Whether `pod` may be the Pod that was scraped rather than the one that the sample is about. */
function isScrapedPod({ row, labels }: Sample): boolean {
  const { pod = "" } = labels;
  if (labels["exported_pod"] || labels["kubernetes_pod_name"]) return false;
  // Only samples about Pods have the uid of one.
  if (labels["uid"]) return false;
  const exporters = [labels["job"], labels["service"], labels["app_kubernetes_io_name"], labels["container"]];
  const isCalledAfter = exporters.some(
    (name) => name && pod.includes(name.replaceAll("_", "-")) && isExporter(row, name),
  );
  return isCalledAfter || isExporter(row, pod);
}

function isExporter({ match }: Reporter, name: string): boolean {
  return match.some(({ exporter }) => exporter?.test(name.replace(podSuffix, "")));
}

/** The suffix that a ReplicaSet, a StatefulSet or a DaemonSet adds to the names of its Pods. */
const podSuffix = /(-[a-z0-9]{5,10})?-([a-z0-9]{5}|\d+)$/;

/** Whether other labels show that the sample is about a node. */
function isAboutNode({ alertname = "", condition = "", key, effect }: Labels): boolean {
  return /node/i.test(alertname) || nodeConditions.test(condition) || Boolean(key && effect);
}

const nodeConditions = /^(Ready|(Memory|Disk|PID)Pressure|NetworkUnavailable|KernelDeadlock|ReadonlyFilesystem)$/;

/** Whether `namespace` is the sample's: it was renamed, or no other label of the endpoint is present. */
function isSampleNamespace(sample: Sample): boolean {
  const { labels } = sample;
  if (!labels["instance"] && labels["pod"] && isScrapedPod(sample)) return false;
  if (labels["exported_namespace"] || labels["kubernetes_namespace"] || !labels["instance"]) return true;
  const isDropped = !labels["pod"] && !labels["service"] && !labels["endpoint"];
  return isDropped || /namespace/i.test(labels["alertname"] ?? "");
}

function host({ labels }: Sample): SubjectFinding | undefined {
  const name = labels["exported_node"] || labels["node"] || labels["kubernetes_node"];
  const named = object("Node", name);
  if (named) return named;
  const hint = nodeHint(labels);
  return hint && { kind: "node", hint };
}

function wholeNamespace(name: string | undefined): SubjectFinding | undefined {
  const found = object("Namespace", name);
  return found?.kind === "object" ? { ...found, distinctBy: distinguishing } : undefined;
}

/** `LABEL=KIND` or `LABEL=KIND.GROUP/VERSION`, where a label in braces is replaced with its value. */
function labelAsKind(step: string, { own }: Sample): SubjectFinding | undefined {
  const [label = "", written = objectLabels[label] ?? label] = step.split("=");
  const kind = written.replace(/\{(\w+)\}/g, (_, name: string) => own[name] ?? "");
  return object(kind, own[label], own["namespace"]);
}

/** The object, if its name can be one. `spelling` is a kind, with group and version unless it is built in. */
function object(spelling: string, name: string | undefined, namespace?: string): SubjectFinding | undefined {
  if (!name || !spelling) return undefined;
  const [, kind = spelling, apiVersion] = /^([^.]+)\.(.+\/.+)$/.exec(spelling) ?? [];
  const known = apiVersion === undefined ? builtInKinds.find(kind) : undefined;
  if (apiVersion !== undefined) return customObject({ apiVersion, kind, name }, namespace);
  if (!known) return undefined;
  const subject = { kind, ...(known.namespaced && namespace ? { namespace } : {}), name };
  return toObjectTarget(subject).kind === "target" ? { kind: "object", subject } : undefined;
}

/** The gateway looks up whether the kind exists and has namespaces. */
function customObject(reference: ObjectReference, namespace: string | undefined): SubjectFinding | undefined {
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(reference.name)) return undefined;
  const coarser = wholeNamespace(namespace);
  return {
    kind: "object",
    subject: { ...reference, ...(namespace ? { namespace } : {}) },
    ...(coarser?.kind === "object" ? { coarser: coarser.subject } : {}),
  };
}
