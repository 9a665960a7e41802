import type { ObjectReference } from "../../resources/index.ts";
import { referenceIn } from "../json.ts";

type Labels = Readonly<Record<string, string>>;

/** Labels by which exporters of the cluster's state name objects, most specific first: an owner before its objects. */
const named: readonly { readonly label: string; readonly kind: string; readonly namespaced: boolean }[] = [
  { label: "deployment", kind: "Deployment", namespaced: true },
  { label: "statefulset", kind: "StatefulSet", namespaced: true },
  { label: "daemonset", kind: "DaemonSet", namespaced: true },
  { label: "cronjob", kind: "CronJob", namespaced: true },
  { label: "job_name", kind: "Job", namespaced: true },
  { label: "replicaset", kind: "ReplicaSet", namespaced: true },
  { label: "horizontalpodautoscaler", kind: "HorizontalPodAutoscaler", namespaced: true },
  { label: "poddisruptionbudget", kind: "PodDisruptionBudget", namespaced: true },
  { label: "persistentvolumeclaim", kind: "PersistentVolumeClaim", namespaced: true },
  { label: "persistentvolume", kind: "PersistentVolume", namespaced: false },
  { label: "pod", kind: "Pod", namespaced: true },
  { label: "node", kind: "Node", namespaced: false },
  { label: "nodename", kind: "Node", namespaced: false },
];

/** In a rule's labels or annotations: the subject in the author's own words, as `payment/deployment/payment-api`. */
const explicit = "interlock_target";

/**
 * The subject as it was found before there was a table of label provenance. Incidents that were opened then are found
 * under it until they are closed. It must not change: its result is part of their fingerprints.
 */
export function formerSubject(labels: Labels, annotations: Labels): ObjectReference | undefined {
  const written = annotations[explicit] || labels[explicit];
  if (written) return referenceIn(written);

  const sample = withoutScrapeTarget(labels);
  for (const { label, kind, namespaced } of named) {
    const name = sample[label];
    if (!name || (namespaced && !sample["namespace"])) continue;
    return namespaced ? { kind, namespace: sample["namespace"] as string, name } : { kind, name };
  }
  return nodeOfExporter(labels) ?? namespaceAlone(sample);
}

/** The labels that are the sample's own. */
function withoutScrapeTarget(labels: Labels): Labels {
  const renamed = Object.keys(labels).filter((label) => label.startsWith("exported_"));
  if (renamed.length === 0 && !isExportersPod(labels)) return labels;
  const own: Record<string, string> = { ...labels };
  delete own["namespace"];
  delete own["pod"];
  // One label that had to give way shows that discovery added them all; otherwise the sample is about the node.
  if (renamed.length > 0) delete own["node"];
  for (const label of renamed) own[label.slice("exported_".length)] = labels[label] as string;
  return own;
}

/** Whether `pod` is the exporter itself: `job`, `container` or `service` names one, and the Pod is called after it. */
function isExportersPod({ pod = "", job = "", container = "", service = "" }: Labels): boolean {
  if (pod === "") return false;
  const names = [job, container, service].map((name) => name.replaceAll("_", "-"));
  return names.some((name) => exporters.test(name) && pod.includes(name));
}

const exporters = /(state-metrics|exporter)$/;

function isNodeExporter({ job = "", pod = "", container = "" }: Labels): boolean {
  return [job, pod, container].some((name) => /node[-_]exporter/.test(name));
}

/** Samples about a node often name it by `instance` alone, with the scraped port. An address is not a name. */
function nodeOfExporter(labels: Labels): ObjectReference | undefined {
  if (!isNodeExporter(labels)) return undefined;
  const name = (labels["instance"] ?? "").replace(/:\d+$/, "");
  const isAddress = /^[\d.]+$/.test(name) || name.includes(":") || name.includes("[");
  return name === "" || isAddress ? undefined : { kind: "Node", name };
}

function namespaceAlone({ namespace }: Labels): ObjectReference | undefined {
  return namespace ? { kind: "Namespace", name: namespace } : undefined;
}
