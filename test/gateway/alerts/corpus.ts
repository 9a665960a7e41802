import { readFileSync } from "node:fs";
import { type Exporter, exporters, type Labels, type Setup } from "./setups.ts";

/** The labels of an alert as one set-up produces them, and its subject as far as they identify it. */
export interface Case {
  readonly alert: string;
  readonly labels: Labels;
  /** In canonical form. Undefined: the labels name no object, and neither may we. */
  readonly expected: string | undefined;
  /** Also correct, but less precise. */
  readonly coarse: readonly string[];
}

interface Rule {
  readonly name: string;
  readonly exporter: string;
  readonly sample: Labels;
  readonly keeps: string;
  readonly about: string;
}

/** All alerts of the corpus in one set-up. */
export function casesOf(setup: Setup): readonly Case[] {
  return rules().flatMap((rule) => {
    const exporter = exporters[rule.exporter];
    if (!exporter) throw new Error(`the corpus has an unknown exporter: ${rule.exporter}`);
    const target = setup.target(rule.exporter, exporter);
    if (!target) return [];
    const labels = { alertname: rule.name, severity: "warning", ...kept(rule, merge(rule, target, setup), setup) };
    return [{ alert: rule.name, labels, ...truth(rule, exporter, labels) }];
  });
}

function merge({ sample, exporter }: Rule, target: Labels, setup: Setup): Labels {
  if (setup.honors(exporter)) return { ...target, ...sample };
  const renamed = Object.entries(sample).map(([name, value]) => [name in target ? `exported_${name}` : name, value]);
  return { ...target, ...Object.fromEntries(renamed) };
}

/** Where discovery renames a label of the sample, a rule that works sums by the new name; a stock rule does not. */
function kept({ keeps }: Rule, labels: Labels, { hasStockRules }: Setup): Labels {
  const [, how = "", list = ""] = /^(all|by|without|only) ?(.*)$/.exec(keeps) ?? [];
  if (how === "only") return labelsIn(list);
  const named = new Set(list.split(","));
  const isNamed = (name: string) => named.has(hasStockRules ? name : name.replace(/^exported_/, ""));
  const left = Object.entries(labels).filter(([name]) => how === "all" || isNamed(name) === (how === "by"));
  const isRenamed = (name: string) => how === "by" && left.some(([other]) => other === `exported_${name}`);
  return Object.fromEntries(left.filter(([name]) => !isRenamed(name)));
}

/** Names of exporters, which may be those of objects by chance. */
const identity: ReadonlySet<string> = new Set(["job", "app_kubernetes_io_name", "app_kubernetes_io_instance"]);

/** By the values that are left: an object can be named if its name and its namespace are still there. */
function truth(rule: Rule, exporter: Exporter, labels: Labels): Pick<Case, "expected" | "coarse"> {
  const values = new Set(Object.entries(labels).flatMap(([name, value]) => (identity.has(name) ? [] : [value])));
  const has = (value: string | undefined) => Boolean(value) && values.has(value as string);
  const { namespace, pod, service, node } = exporter;
  const whole = has(namespace) ? [`namespace/${namespace}`] : [];
  const behind = has(namespace) && has(service) ? [`${namespace}/service/${service}`] : [];
  const first = (...candidates: readonly (readonly string[])[]) => {
    const [expected, ...coarse] = candidates.flat();
    return { expected, coarse };
  };
  switch (rule.about) {
    case "none":
      return first();
    case "host": {
      const isNamed = ["pod", "node", "exported_node", "kubernetes_node", "nodename"].some((name) => labels[name]);
      const isKnown = isNamed || (labels["instance"] && labels["job"]);
      return first(isKnown ? [`node/${node}`] : behind);
    }
    case "self":
      return first(has(pod) && has(namespace) ? [`${namespace}/pod/${pod}`] : [], behind, whole);
    case "endpoints":
    case "probed":
      return first(behind, whole);
    case "namespace-of-self":
      return first(whole);
    default:
      return first(namedBy(rule, has));
  }
}

function namedBy({ about, sample }: Rule, has: (value: string | undefined) => boolean): readonly string[] {
  const [label = "", written] = about.split("=");
  const { namespace } = sample;
  const name = sample[label];
  if (!has(name)) return [];
  if (label === "namespace") return [`namespace/${name}`];
  const kind = label === "workload" ? (sample["workload_type"] ?? "") : (kinds[written ?? label] ?? written ?? label);
  if (clusterWide.has(kind)) return [`${kind}/${name}`];
  return has(namespace) ? [`${namespace}/${kind}/${name}`, `namespace/${namespace}`] : [];
}

const clusterWide: ReadonlySet<string> = new Set(["node", "persistentvolume", "apiservice"]);
const kinds: Readonly<Record<string, string>> = {
  ...{ job_name: "job", certificate: "certificate.cert-manager.io", application: "application.argoproj.io" },
};

/** The labels of metrics that belong together. */
const families: Readonly<Record<string, string>> = {
  pod: "namespace=payment pod=payment-api-7d9f8b6c5-x2x4z uid=6f1c2a44",
  container: "namespace=payment pod=payment-api-7d9f8b6c5-x2x4z uid=6f1c2a44 container=api",
  cadvisor: "namespace=payment pod=payment-api-7d9f8b6c5-x2x4z container=api id=/kubepods/x image=api:1 name=k8s_api",
  deployment: "namespace=payment deployment=payment-api",
  statefulset: "namespace=payment statefulset=redis-master",
  daemonset: "namespace=logging daemonset=promtail",
  replicaset: "namespace=payment replicaset=payment-api-7d9f8b6c5",
  job: "namespace=batch job_name=nightly-28391",
  cronjob: "namespace=batch cronjob=nightly",
  hpa: "namespace=payment horizontalpodautoscaler=payment-api",
  pdb: "namespace=payment poddisruptionbudget=payment-api",
  quota: "namespace=payment resourcequota=compute resource=requests.cpu type=used",
  pvc: "namespace=payment persistentvolumeclaim=data-redis-master-0",
  pv: "persistentvolume=pvc-2c1f0a9e",
  ingress: "namespace=payment ingress=payment-api",
  namespace: "namespace=payment",
  node: "node=worker-1",
  apiservice: "name=v1beta1.metrics.k8s.io",
  filesystem: "device=/dev/sda1 fstype=ext4 mountpoint=/var",
  nginx: "namespace=payment ingress=payment-api service=payment-api host=pay.example.com path=/",
  certificate: "namespace=payment name=payment-tls issuer_kind=ClusterIssuer issuer_name=letsencrypt",
  application: "namespace=argocd name=payment project=default dest_namespace=payment",
};

function rules(): readonly Rule[] {
  const text = readFileSync(new URL("corpus.txt", import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [name = "", exporter = "", sample = "", keeps = "", about = ""] = line.split("|").map((part) => part.trim());
    return { name, exporter, sample: labelsIn(sample), keeps, about };
  });
}

function labelsIn(text: string): Labels {
  const filled = text.replace(/@(\w+)/g, (_, family: string) => families[family] ?? "");
  const pairs = filled.split(" ").filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}
