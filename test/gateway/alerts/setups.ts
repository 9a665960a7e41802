/** Labels by name. */
export type Labels = Readonly<Record<string, string>>;

/** A process that is scraped. */
export interface Exporter {
  readonly namespace: string;
  readonly pod?: string;
  readonly container?: string;
  readonly service?: string;
  /** `app.kubernetes.io/name` of its Pods and Service. */
  readonly app: string;
  readonly address: string;
  readonly port: number;
  /** Where it runs. */
  readonly node: string;
}

const machine = "10.0.1.11";
const inNamespace = (namespace: string, app: string, pod: string, port = 8080): Exporter => ({
  ...{ namespace, app, pod, container: app, service: app, address: "10.244.3.7", port, node: "infra-1" },
});
const onMachine = (namespace: string, app: string, port: number): Exporter => ({
  ...inNamespace(namespace, app, `${app}-x8k2p`, port),
  ...{ address: machine, node: "worker-1" },
});

/** Who is scraped, by the names of the corpus. */
export const exporters: Readonly<Record<string, Exporter>> = {
  ksm: {
    ...inNamespace("monitoring", "kube-state-metrics", "mon-kube-state-metrics-5d4b7c9f6d-h2k9x"),
    service: "mon-kube-state-metrics",
  },
  node: onMachine("monitoring", "prometheus-node-exporter", 9100),
  smartctl: onMachine("monitoring", "prometheus-smartctl-exporter", 9633),
  systemd: onMachine("monitoring", "prometheus-systemd-exporter", 9558),
  kubelet: {
    ...{ namespace: "kube-system", app: "kubelet", service: "mon-kubelet" },
    ...{ address: machine, port: 10250, node: "worker-1" },
  },
  cadvisor: {
    ...{ namespace: "kube-system", app: "kubelet", service: "mon-kubelet" },
    ...{ address: machine, port: 10250, node: "worker-1" },
  },
  apiserver: {
    ...{ namespace: "default", app: "apiserver", service: "kubernetes" },
    ...{ address: "10.0.1.1", port: 6443, node: "control-1" },
  },
  scheduler: inNamespace("kube-system", "kube-scheduler", "kube-scheduler-control-1", 10259),
  controller: inNamespace("kube-system", "kube-controller-manager", "kube-controller-manager-control-1", 10257),
  proxy: onMachine("kube-system", "kube-proxy", 10249),
  etcd: inNamespace("kube-system", "etcd", "etcd-control-1", 2381),
  coredns: { ...inNamespace("kube-system", "coredns", "coredns-6f6b679f8f-2lxzt", 9153), service: "kube-dns" },
  prometheus: {
    ...inNamespace("monitoring", "prometheus", "prometheus-k8s-0", 9090),
    service: "prometheus-k8s",
  },
  alertmanager: {
    ...inNamespace("monitoring", "alertmanager", "alertmanager-main-0", 9093),
    service: "alertmanager-main",
  },
  operator: inNamespace("monitoring", "prometheus-operator", "prometheus-operator-7b8c9d5f4-kq8zn", 8443),
  grafana: inNamespace("monitoring", "grafana", "grafana-6c8d9b7f5-4xw2m", 3000),
  app: inNamespace("payment", "payment-api", "payment-api-7d9f8b6c5-x2x4z"),
  sidecar: { ...inNamespace("payment", "redis", "redis-master-0", 9121), container: "metrics" },
  rabbitmq: inNamespace("payment", "rabbitmq", "rabbitmq-server-0", 15692),
  loki: inNamespace("logging", "loki", "loki-write-0", 3100),
  minio: inNamespace("storage", "minio", "minio-0", 9000),
  vault: inNamespace("vault", "vault", "vault-0", 8200),
  traefik: inNamespace("traefik", "traefik", "traefik-5f7b8c9d6-9zqkl", 9100),
  nginx: inNamespace("ingress-nginx", "ingress-nginx", "ingress-nginx-controller-79d8c7b6f-tt5mw", 10254),
  certmanager: inNamespace("cert-manager", "cert-manager", "cert-manager-6d8f7b5c9-w4x7p", 9402),
  argocd: {
    ...inNamespace("argocd", "argocd-application-controller", "argocd-application-controller-0", 8082),
    service: "argocd-metrics",
  },
  blackbox: inNamespace("monitoring", "blackbox-exporter", "blackbox-exporter-75c4f7f8d-8kd2s", 19115),
  ...Object.fromEntries(
    ["postgres", "mysql", "elasticsearch", "kafka", "memcached", "mongodb", "cloudwatch", "pgbouncer"].map((name) => {
      const app = `prometheus-${name}-exporter`;
      return [`${name}-exporter`, inNamespace("databases", app, `${app}-5c8b7d6f9-q7w2e`, 9187)];
    }),
  ),
  probe: { ...inNamespace("payment", "payment-api", "", 80), address: "payment-api.payment.svc" },
};

/** Where samples come from: which labels discovery adds, and whose label wins when both have one. */
export interface Setup {
  readonly name: string;
  /** The labels that discovery adds for an exporter. Undefined: it is not scraped in this set-up. */
  target(name: string, exporter: Exporter): Labels | undefined;
  /** Whether the sample's label wins; otherwise it is renamed to `exported_…`. */
  honors(name: string): boolean;
  /** True: rules sum by the names that they were published with, also where those are the exporter's labels here. */
  readonly hasStockRules?: true;
}

/** The jobs of the rules' own selectors. */
function jobOf(name: string, { app, service = "" }: Exporter): string {
  const jobs: Readonly<Record<string, string>> = {
    ...{ ksm: "kube-state-metrics", node: "node-exporter", kubelet: "kubelet", cadvisor: "kubelet" },
    ...{ prometheus: "prometheus-k8s", alertmanager: "alertmanager-main", argocd: "argocd-metrics" },
  };
  return jobs[name] ?? (service === "kube-dns" ? "coredns" : app);
}

const isKubelet = (name: string) => name === "kubelet" || name === "cadvisor";
const probedUrl = "https://shop.example.com/health";

/** What the Prometheus operator adds for a ServiceMonitor. */
function serviceMonitor(name: string, exporter: Exporter): Labels | undefined {
  const { namespace, pod, container, service = "", address, port, node } = exporter;
  if (name === "probe") return undefined;
  const instance = name === "blackbox" ? probedUrl : `${address}:${port}`;
  const common = { job: jobOf(name, exporter), namespace, service, endpoint: "http-metrics", instance };
  if (isKubelet(name)) {
    return { ...common, node, metrics_path: name === "cadvisor" ? "/metrics/cadvisor" : "/metrics" };
  }
  return pod ? { ...common, pod, container: container ?? "" } : common;
}

const kubePrometheus: Setup = {
  name: "kube-prometheus manifests",
  target(name, exporter) {
    const labels = serviceMonitor(name, exporter);
    if (name === "node") return { ...labels, instance: exporter.node, container: "kube-rbac-proxy" };
    if (name !== "ksm" || !labels) return labels;
    const { job = "", instance = "" } = labels;
    return { job, instance, container: "kube-rbac-proxy-main" };
  },
  honors: (name) => name === "ksm" || isKubelet(name) || name === "operator",
};

const stack: Setup = {
  name: "kube-prometheus-stack chart",
  target: serviceMonitor,
  honors: (name) => name === "ksm" || isKubelet(name) || name === "operator",
};

const plainMonitors: Setup = {
  name: "ServiceMonitors without honorLabels",
  target: serviceMonitor,
  honors: () => false,
};

const stockRules: Setup = {
  ...plainMonitors,
  name: "the same with stock rules",
  hasStockRules: true,
};

const podMonitors: Setup = {
  name: "PodMonitors",
  target(name, exporter) {
    const labels = exporter.pod ? serviceMonitor(name, exporter) : undefined;
    if (!labels) return undefined;
    const { service: _, ...rest } = labels;
    return { ...rest, job: `${exporter.namespace}/${exporter.app}` };
  },
  honors: (name) => name === "ksm",
};

/** Labels of a Service or Pod that discovery copies. */
function copiedLabels({ app }: Exporter): Labels {
  return {
    ...{ app_kubernetes_io_name: app, app_kubernetes_io_instance: "mon", app_kubernetes_io_managed_by: "Helm" },
    ...{ helm_sh_chart: `${app}-1.2.3` },
  };
}

/** Labels of the Node that discovery copies. */
const nodeLabels: Labels = {
  ...{ beta_kubernetes_io_arch: "amd64", beta_kubernetes_io_os: "linux", kubernetes_io_arch: "amd64" },
  ...{ kubernetes_io_hostname: "worker-1", kubernetes_io_os: "linux", topology_kubernetes_io_zone: "eu-1a" },
};

/** Applications are found as Pods, everything else as endpoints of a Service. */
const asPods: ReadonlySet<string> = new Set(["app", "sidecar", "loki", "vault"]);
const notScraped: ReadonlySet<string> = new Set(["scheduler", "controller", "proxy", "etcd", "operator"]);

/** What both versions of the `prometheus` chart have in common. */
function chartTarget(name: string, { node, address, port }: Exporter): Labels | "discovered" | undefined {
  if (notScraped.has(name)) return undefined;
  if (name === "prometheus") return { job: "prometheus", instance: "localhost:9090" };
  if (name === "apiserver") return { job: "kubernetes-apiservers", instance: `${address}:${port}` };
  if (name === "blackbox") return { job: "blackbox", instance: probedUrl };
  if (name === "kubelet") return { job: "kubernetes-nodes", instance: node, ...nodeLabels };
  if (name !== "cadvisor") return "discovered";
  const path = { metrics_path: "/metrics/cadvisor" };
  return { job: "kubernetes-nodes-cadvisor", instance: node, ...path, ...nodeLabels };
}

const prometheusChart: Setup = {
  name: "prometheus chart",
  target(name, exporter) {
    const { namespace, pod = "", service = "", address, port, node } = exporter;
    const fixed = chartTarget(name, exporter);
    if (fixed !== "discovered") return fixed;
    const instance = `${address}:${port}`;
    if (name === "probe") {
      return { job: "kubernetes-services", instance: `${address}:80`, namespace, service, ...copiedLabels(exporter) };
    }
    const place = asPods.has(name)
      ? { job: "kubernetes-pods", pod, pod_template_hash: "7d9f8b6c5" }
      : { job: "kubernetes-service-endpoints", service };
    return { ...copiedLabels(exporter), ...place, instance, namespace, node };
  },
  honors: () => true,
};

const annotations: Setup = {
  name: "annotations, kubernetes_* labels",
  target(name, exporter) {
    const { namespace, pod = "", service = "", address, port, node } = exporter;
    const fixed = name === "probe" ? undefined : chartTarget(name, exporter);
    if (fixed !== "discovered") return fixed;
    const place = asPods.has(name)
      ? { job: "kubernetes-pods", kubernetes_pod_name: pod }
      : { job: "kubernetes-service-endpoints", kubernetes_name: service, kubernetes_node: node };
    return { ...copiedLabels(exporter), ...place, instance: `${address}:${port}`, kubernetes_namespace: namespace };
  },
  honors: () => false,
};

const outside: Setup = {
  name: "outside Kubernetes",
  target(name, exporter) {
    const { app, port, node } = exporter;
    const external = { cluster: "prod", env: "prod", region: "eu" };
    if (notScraped.has(name) || name === "probe") return undefined;
    if (name === "node") return { job: "node", instance: `${node}:${port}`, ...external };
    if (name === "smartctl" || name === "systemd")
      return { job: `${name}_exporter`, instance: `${node}:${port}`, ...external };
    if (name === "kubelet" || name === "cadvisor") return { job: name, instance: `${node}:${port}`, ...external };
    if (name === "prometheus") return { job: "prometheus", instance: "localhost:9090", ...external };
    if (name === "blackbox") return { job: "blackbox", instance: probedUrl, ...external };
    return { job: name === "ksm" ? "kube-state-metrics" : app, instance: `${app}.example.com:${port}`, ...external };
  },
  honors: (name) => name === "ksm" || isKubelet(name),
};

export const setups: readonly Setup[] = [
  kubePrometheus,
  stack,
  prometheusChart,
  plainMonitors,
  stockRules,
  podMonitors,
  annotations,
  outside,
];
