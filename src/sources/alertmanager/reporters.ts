/** The labels of one alert. */
export type Labels = Readonly<Record<string, string>>;

/**
 * One way to find the subject in the labels. Discovery adds labels of the scraped endpoint to each sample; a label of the
 * sample with the same name is renamed, as in `exported_pod`.
 *
 * - `objects`: a label that always names an object, such as `deployment`, `job_name` or `persistentvolumeclaim`
 * - `pod`, `service`, `node`, `namespace`: the label of that name
 * - `foreign-pod`: `pod`, unless it is the Pod that was scraped
 * - `evident-node`: `node`, unless discovery may have added it and no other label shows that the sample is about a node
 * - `sample-namespace`: `namespace`, if discovery cannot have added it
 * - `endpoints`: the Service whose endpoints were scraped, in an alert that sums over all of them
 * - `host`: the Node on which the exporter runs, which the gateway looks up
 * - `exported-namespace`: the renamed namespace of the sample
 * - `LABEL=KIND`: the label names an object of that kind, such as `name=Certificate.cert-manager.io/v1`
 */
export type SubjectStep = (typeof plainSteps)[number] | `${string}=${string}`;

export const plainSteps = [
  "objects",
  "pod",
  "foreign-pod",
  "service",
  "endpoints",
  "node",
  "evident-node",
  "host",
  "namespace",
  "sample-namespace",
  "exported-namespace",
] as const;

/** A built-in expression, or one of linear time from an operator's file: senders choose the label values. */
type TextPattern = Pick<RegExp, "test">;

/** The conditions of a row. All of them must match. */
export interface ReporterMatch {
  /** The name of the exporter: `job`, or another label that names the scraped endpoint. */
  readonly exporter?: TextPattern;
  readonly alertname?: TextPattern;
  /** Labels that must be present, with matching values. */
  readonly labels?: Readonly<Record<string, TextPattern>>;
  /** Labels that must be absent. */
  readonly without?: readonly string[];
}

/** One row of the table: the exporter, and which labels name the subject. */
export interface Reporter {
  /** For the documentation and for reasons. */
  readonly name: string;
  /** At least one of them must match. */
  readonly match: readonly ReporterMatch[];
  /** Labels that discovery adds. If the sample's own was renamed (`exported_pod`), all of them are the exporter's. */
  readonly scrape: readonly string[];
  /** The steps that find the subject, in this order. */
  readonly subject: readonly SubjectStep[];
  /** The reason if no step finds a subject. */
  readonly otherwise: string;
}

const endpointLabels = ["namespace", "pod", "container", "service", "node"];

/** Exporters that measure the machine on which they run. */
const machineExporters =
  /(^|[-_])(node|windows|wmi|smartctl|systemd|process|ebpf|zfs|conntrack-stats|dcgm)[-_]?exporter($|[-_])/;

/** Alerts on `up`: discovery added all of their labels. */
const healthAlerts =
  /^(TargetDown|(Prometheus)?(All)?Targets?(Missing|Down|Unreachable).*|InstanceDown|InstanceUnreachable|EndpointDown|ScrapeFailed|ExporterDown)$/i;

/** Where exporters usually run. Without honorLabels, a rule that sums by `namespace` sums by this one, not by the sample's. */
const monitoringNamespaces =
  /^(monitoring|observability|metrics|prometheus|kube-prometheus(-stack)?|prometheus-operator|[a-z]+-monitoring(-system)?|monitoring-[a-z]+)$/;

/** Labels of alerts about one endpoint, and of alerts that have the sample's own namespace. */
const endpointIdentity = ["instance", "pod", "service", "exported_namespace", "kubernetes_namespace"];

/** Labels by which public rules for kube-state-metrics sum. */
const workloadLabels = ["deployment", "statefulset", "daemonset", "cronjob", "job_name", "replicaset", "workload"];

/** How labels are read: the first row that matches decides. Rows of the installation come before these. */
export const builtInReporters: readonly Reporter[] = [
  {
    name: "scrape health of all endpoints",
    match: [{ alertname: healthAlerts, without: ["instance"] }],
    scrape: [],
    subject: ["service", "namespace"],
    otherwise: "the scraped endpoints are not objects of the cluster",
  },
  {
    name: "kubelet and cAdvisor",
    match: [
      { exporter: /^(kubelet|cadvisor|kubernetes-(nodes|kubelet)(-cadvisor)?|kubernetes-cadvisor)$|-kubelet$/ },
      { labels: { kubernetes_io_hostname: /./ }, without: ["service", "app_kubernetes_io_name"] },
    ],
    scrape: ["namespace", "service", "node"],
    subject: ["objects", "foreign-pod", "host", "endpoints"],
    otherwise: "the figures of the kubelet name neither a Pod nor a Node",
  },
  {
    name: "exporters of a machine",
    match: [
      { exporter: machineExporters },
      // A Service that runs Node.js may be called "node"; its alerts have a Pod or a Service.
      { labels: { job: /^(nodes?|hosts?|machines?|linux|windows)$/ }, without: ["pod", "service"] },
    ],
    scrape: endpointLabels,
    subject: ["host", "endpoints"],
    otherwise: "the machine is not a Node of this cluster",
  },
  {
    name: "scrape health of one endpoint",
    match: [{ alertname: healthAlerts }],
    scrape: [],
    subject: ["pod", "service", "namespace"],
    otherwise: "the scraped endpoint is not an object of the cluster",
  },
  {
    name: "sums in a monitoring namespace",
    match: [
      {
        exporter: /state-metrics|^ksm$|^kube-state$/,
        labels: { namespace: monitoringNamespaces },
        without: endpointIdentity,
      },
      ...workloadLabels.map((label) => ({
        labels: { namespace: monitoringNamespaces, [label]: /./ },
        without: ["job", ...endpointIdentity],
      })),
    ],
    scrape: [],
    subject: [],
    otherwise:
      "it is a sum without the labels of one endpoint, in a namespace of exporters: the namespace may be that of the exporter",
  },
  {
    name: "API services",
    match: [{ alertname: /^Kube(rnetes)?AggregatedAPI/i }],
    scrape: endpointLabels,
    subject: ["name=APIService"],
    otherwise: "the API server is not an object that could be acted on",
  },
  {
    name: "API server",
    match: [
      { exporter: /^(kube-?)?apiservers?$|^kubernetes-api-?servers?$|^kubernetes$/ },
      { alertname: /^Kube(rnetes)?(API|ApiServer|Client(Errors|Certificate))/i, without: ["pod"] },
    ],
    scrape: endpointLabels,
    subject: [],
    otherwise: "the API server is not an object that could be acted on",
  },
  {
    name: "probes of Services",
    match: [{ exporter: /^kubernetes-services$/ }],
    scrape: [],
    subject: ["service"],
    otherwise: "the probed address is not a Service",
  },
  {
    name: "probes",
    match: [{ exporter: /blackbox|(^|[-_])(snmp|ssl|json)([-_]exporter)?$/ }, { labels: { instance: /:\/\// } }],
    scrape: endpointLabels,
    subject: [],
    otherwise: "the probed address is not an object of the cluster",
  },
  {
    name: "custom resource state",
    match: [
      { labels: { customresource_kind: /./, customresource_group: /./, customresource_version: /./, name: /./ } },
    ],
    scrape: endpointLabels,
    subject: ["name={customresource_kind}.{customresource_group}/{customresource_version}"],
    otherwise: "the custom resource is not named in full",
  },
  {
    name: "kube-state-metrics",
    match: [{ exporter: /state-metrics|^ksm$|^kube-state$/ }],
    scrape: endpointLabels,
    subject: ["objects", "foreign-pod", "evident-node", "endpoints", "sample-namespace"],
    otherwise: "only the exporter itself is named",
  },
  {
    name: "cert-manager",
    match: [{ exporter: /cert-?manager/ }, { labels: { issuer_kind: /./, name: /./ } }],
    scrape: endpointLabels,
    subject: ["name=Certificate.cert-manager.io/v1", "pod", "service", "namespace"],
    otherwise: "no Certificate is named",
  },
  {
    name: "Argo CD",
    match: [{ labels: { dest_namespace: /./, name: /./ } }],
    scrape: ["pod", "container", "service", "node"],
    subject: ["name=Application.argoproj.io/v1alpha1"],
    otherwise: "no Application is named",
  },
  {
    name: "other exporters",
    match: [
      {
        exporter:
          /(^|[-_])exporter($|[-_])|[a-z]exporter$|^(prometheus-)?pushgateway$|^rook-ceph-(mgr|exporter)$|^ceph$|^(cloudwatch|stackdriver)$/,
      },
    ],
    scrape: endpointLabels,
    subject: ["objects", "foreign-pod", "exported-namespace"],
    otherwise: "the labels name the exporter, not its subject",
  },
];

/** Applies if no row matches: to exporters that report about themselves, and to sums that keep only labels of objects. */
const anyReporter: Reporter = {
  name: "everything else",
  match: [{}],
  scrape: endpointLabels,
  subject: ["objects", "pod", "service", "node", "namespace"],
  otherwise: "no label names an object",
};

/**
 * The row that applies. The most reliable label for the exporter's name comes first: an alert of kube-state-metrics about a Pod
 * of node-exporter is read by the row for kube-state-metrics.
 */
export function findReporter(labels: Labels, rows: readonly Reporter[]): Reporter {
  for (const exporter of exporterNames(labels)) {
    const row = rows.find(({ match }) => match.some((one) => matchesRow(one, exporter, labels)));
    if (row) return row;
  }
  return anyReporter;
}

function matchesRow(
  { exporter, alertname, labels: wanted = {}, without = [] }: ReporterMatch,
  name: string,
  labels: Labels,
) {
  if (exporter && !exporter.test(name)) return false;
  if (alertname && !alertname.test(labels["alertname"] ?? "")) return false;
  if (without.some((label) => labels[label])) return false;
  return Object.entries(wanted).every(([label, pattern]) => labels[label] && pattern.test(labels[label]));
}

/** Jobs that scrape every endpoint of discovery, so their name does not identify the exporter. */
const discoveryJobs = /^kubernetes-(service-endpoints|pods)(-slow)?$|^(federate|endpoints|pods|annotations)$/;

/** Whether discovery adds the `node` of the endpoint to every sample. */
export function hasDiscoveredNode(labels: Labels): boolean {
  if (!labels["node"]) return false;
  return discoveryJobs.test(labels["job"] ?? "") || mappedLabels.some((label) => labels[label]);
}

/** Labels of Services and Pods that discovery copies to samples. */
const mappedLabels = ["app_kubernetes_io_name", "app_kubernetes_io_instance", "helm_sh_chart", "pod_template_hash"];

function exporterNames(labels: Labels): readonly string[] {
  const { job = "", instance, pod = "" } = labels;
  // An alert without `instance` sums over endpoints, so `pod` and `container` are the sample's. A Pod of kube-state-metrics is
  // the exception: while it does not work, it reports nothing about itself.
  const own = instance || (/kube-state-metrics/.test(pod) && !labels["container"]) ? [labels["container"], pod] : [];
  const found = [
    discoveryJobs.test(job) ? undefined : lastPart(job),
    labels["service"],
    labels["app_kubernetes_io_name"],
    labels["app"],
    labels["k8s_app"],
    labels["kubernetes_name"],
    ...own,
  ];
  const names = found.filter((name): name is string => Boolean(name));
  return names.length === 0 ? [""] : names;
}

/** The part of `monitoring/node-exporter` or `integrations/kubernetes/cadvisor` that names the exporter. */
function lastPart(job: string): string {
  return job.slice(job.lastIndexOf("/") + 1);
}
