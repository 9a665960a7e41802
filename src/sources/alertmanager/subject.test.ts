import { describe, expect, it } from "vitest";
import type { ObjectReference } from "../../resources/index.ts";
import { readProvenance } from "./provenance-file.ts";
import { findSubject } from "./subject.ts";

const pod = (name: string, namespace = "payment") => ({ kind: "Pod", namespace, name });
const ksm = {
  job: "kube-state-metrics",
  container: "kube-state-metrics",
  instance: "10.0.0.9:8080",
  service: "prometheus-kube-state-metrics",
};
const ksmPod = { pod: "prometheus-kube-state-metrics-5d4b7", namespace: "monitoring" };
const exporter = {
  job: "node-exporter",
  container: "node-exporter",
  pod: "node-exporter-x8k2p",
  namespace: "monitoring",
};

describe("the subject of an alert", () => {
  it.each([
    ["its Pod", { namespace: "payment", pod: "api-1", container: "api" }, pod("api-1")],
    [
      "the owner rather than the Pod",
      { namespace: "payment", deployment: "api", pod: "api-1" },
      { kind: "Deployment", namespace: "payment", name: "api" },
    ],
    [
      "a Job by job_name, never by job",
      { namespace: "batch", job_name: "n-1", job: "x" },
      { kind: "Job", namespace: "batch", name: "n-1" },
    ],
    ["its node", { node: "worker-1" }, { kind: "Node", name: "worker-1" }],
    [
      "its namespace, if nothing else is named",
      { namespace: "payment", job: "app" },
      { kind: "Namespace", name: "payment" },
    ],
    [
      "the exporter that reports about itself",
      { job: "payment-api", pod: "payment-api-1", namespace: "payment" },
      pod("payment-api-1"),
    ],
  ])("is %s", (_what, labels, subject) => {
    expect(found(labels)).toEqual(subject);
  });

  it.each([
    [
      "a Pod that kube-state-metrics reports with honor_labels",
      { ...ksm, namespace: "payment", pod: "api-1" },
      pod("api-1"),
    ],
    [
      "a Pod that was renamed because of the exporter's",
      { ...ksm, ...ksmPod, exported_pod: "api-1", exported_namespace: "payment" },
      pod("api-1"),
    ],
    [
      "a node that kube-state-metrics reports",
      { ...ksm, ...ksmPod, node: "worker-1" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "a node that was renamed because of the exporter's",
      { ...ksm, ...ksmPod, node: "infra-1", exported_node: "worker-1" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "a Deployment in the renamed namespace",
      { ...ksm, ...ksmPod, deployment: "api", exported_namespace: "payment" },
      { kind: "Deployment", namespace: "payment", name: "api" },
    ],
    [
      "a renamed namespace, not the node of the exporter",
      { ...ksm, ...ksmPod, node: "infra-1", exported_namespace: "payment" },
      { kind: "Namespace", name: "payment" },
    ],
    [
      "the node of a node exporter",
      { ...exporter, node: "worker-1", instance: "10.0.0.5:9100" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "the Deployment in the sample's namespace, not the Pod that was scraped",
      { alertname: "KubeDeploymentReplicasMismatch", deployment: "api", ...ksm, ...ksmPod, namespace: "payment" },
      { kind: "Deployment", namespace: "payment", name: "api" },
    ],
    [
      "a ResourceQuota",
      { ...ksm, ...ksmPod, namespace: "payment", resourcequota: "compute" },
      { kind: "ResourceQuota", namespace: "payment", name: "compute" },
    ],
    [
      "a node that kube-state-metrics reports, although discovery adds nodes",
      { ...discovered("kube-state-metrics"), alertname: "KubeNodeNotReady", condition: "Ready", node: "worker-1" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "a Deployment, not the node that discovery adds",
      { ...discovered("kube-state-metrics"), namespace: "payment", deployment: "api" },
      { kind: "Deployment", namespace: "payment", name: "api" },
    ],
    [
      "the Service of an application, not the node that discovery adds",
      { ...discovered("payment-api"), namespace: "payment" },
      { kind: "Service", namespace: "payment", name: "payment-api" },
    ],
    [
      "a Pod of cAdvisor, not the node that was scraped",
      {
        job: "kubelet",
        node: "worker-1",
        namespace: "payment",
        pod: "api-1",
        service: "kubelet",
        instance: "10.0.0.5:10250",
      },
      pod("api-1"),
    ],
    [
      "the node of the kubelet, not the namespace that was scraped",
      { job: "kubelet", node: "worker-1", namespace: "kube-system", service: "kubelet", instance: "10.0.0.5:10250" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "the Service whose endpoints are down",
      { alertname: "TargetDown", job: "node-exporter", namespace: "monitoring", service: "node-exporter" },
      { kind: "Service", namespace: "monitoring", name: "node-exporter" },
    ],
    [
      "an APIService, not the namespace of the API server",
      { alertname: "KubeAggregatedAPIDown", name: "v1beta1.metrics.k8s.io", namespace: "default" },
      { kind: "APIService", name: "v1beta1.metrics.k8s.io" },
    ],
    [
      "the exporter's Pod, when another exporter reports about it",
      { ...ksm, namespace: "monitoring", pod: "node-exporter-x8k2p" },
      pod("node-exporter-x8k2p", "monitoring"),
    ],
  ])("is %s", (_what, labels, subject) => {
    expect(found(labels)).toEqual(subject);
  });

  it.each([
    ["only the exporter is named", { ...ksm, ...ksmPod }],
    [
      "the API server is scraped",
      { job: "apiserver", namespace: "default", service: "kubernetes", instance: "10.0.0.1:6443" },
    ],
    ["only the API server's namespace is left", { job: "apiserver", namespace: "default" }],
    [
      "discovery adds a node, and nothing shows that the sample is about one",
      { ...discovered("kube-state-metrics"), reason: "x" },
    ],
    [
      "an exporter measures something else",
      { job: "redis-exporter", namespace: "db", pod: "redis-exporter-5c8b7d6f9-q7w2e", instance: "a:1" },
    ],
    ["an address was probed", { job: "shop", namespace: "monitoring", instance: "https://shop.example.com" }],
    ["a name cannot be an object's", { namespace: "payment-", deployment: "Prod EU" }],
    ["interlock_target is misspelled", { interlock_target: "worker-1", node: "worker-1" }],
    ["there is only a service", { job: "x", service: "x", endpoint: "http" }],
    ["a Pod has no namespace", { pod: "api-1" }],
  ])("is unknown when %s", (_what, labels) => {
    expect(findSubject(labels, {})).toEqual({ kind: "none", because: expect.stringMatching(/^[a-z].{10,}[^.]$/) });
  });

  it("is that of interlock_target if the rule sets it", () => {
    const written = { kind: "deploy", namespace: "payment", name: "api" };

    expect(found({ node: "worker-1" }, { interlock_target: "payment/deploy/api" })).toEqual(written);
    expect(found({ node: "worker-1", interlock_target: "node/b" })).toEqual({ kind: "node", name: "b" });
  });

  it("is distinguished by job and service if only a namespace is named", () => {
    expect(findSubject({ alertname: "TargetDown", namespace: "payment", job: "a" }, {})).toMatchObject({
      subject: { kind: "Namespace", name: "payment" },
      distinctBy: ["job", "service"],
    });
    expect(findSubject({ namespace: "payment", pod: "api-1" }, {})).not.toHaveProperty("distinctBy");
  });
});

describe("the Node of an exporter", () => {
  it.each([
    [
      "its nodename",
      { nodename: "worker-1", instance: "10.0.0.5:9100" },
      { names: ["worker-1"], addresses: ["10.0.0.5"] },
    ],
    ["the host that was scraped", { instance: "worker-1:9100" }, { names: ["worker-1"], addresses: [] }],
    ["an IPv4 address", { instance: "10.0.0.5:9100" }, { names: [], addresses: ["10.0.0.5"] }],
    ["an IPv6 address", { instance: "[fd00::5]:9100" }, { names: [], addresses: ["fd00::5"] }],
    ["its own Pod", { instance: "localhost:9100" }, { names: [], addresses: [] }],
    ["its own Pod, not a Service", { instance: "node-exporter.monitoring.svc:9100" }, { names: [], addresses: [] }],
    [
      "its own Pod, not a Service in full",
      { instance: "metrics.monitoring.svc.cluster.local:9100" },
      { names: [], addresses: [] },
    ],
    ["its own Pod, not loopback", { instance: "127.0.0.1:9100" }, { names: [], addresses: [] }],
  ])("is looked up by %s", (_by, labels, hint) => {
    const podOfExporter = { kind: "Pod", namespace: "monitoring", name: "node-exporter-x8k2p" };

    expect(findSubject({ ...exporter, ...labels }, {})).toEqual({
      kind: "node",
      hint: { ...hint, pod: podOfExporter },
    });
  });

  it.each([
    "node",
    "nodes",
    "host",
    "linux",
    "node_exporter",
    "node-exporter",
    "nodeexporter",
    "prometheus-node-exporter",
    "monitoring/node-exporter",
    "integrations/node_exporter",
    "windows-exporter",
    "smartctl-exporter",
  ])("is looked up for the job %s", (job) => {
    expect(findSubject({ job, instance: "worker-1:9100" }, {})).toMatchObject({ hint: { names: ["worker-1"] } });
  });

  it.each(["localhost:9100", "node-exporter:9100", "x.default.svc:9100", "host.docker.internal:9100"])(
    "is never %s",
    (instance) => {
      expect(findSubject({ job: "node", instance }, {})).toMatchObject({ kind: "none" });
    },
  );

  it("is not looked up for a Node.js application", () => {
    const labels = {
      job: "node",
      namespace: "payment",
      pod: "node-7d9f8b6c5-x2x4z",
      service: "node",
      instance: "10.1.1.1:80",
    };

    expect(found(labels)).toEqual(pod("node-7d9f8b6c5-x2x4z"));
  });
});

describe("a table of label provenance of an installation", () => {
  const file = `provenance:
  - name: team exporter
    match: { exporter: /team-.*/, labels: { app: [api, web] } }
    scrape: [namespace, pod]
    subject: [app=Deployment, ticket=Ticket.example.com/v1, host, namespace]
`;

  it("comes before the built-in one", () => {
    const labels = {
      job: "team-exporter",
      app: "api",
      exported_namespace: "payment",
      namespace: "monitoring",
      pod: "x",
    };
    const reading = readProvenance({ path: "p.yaml", text: file });
    const rows = reading.kind === "valid" ? reading.reporters : [];

    expect(findSubject(labels, {}, rows)).toMatchObject({
      subject: { kind: "Deployment", namespace: "payment", name: "api" },
    });
    expect(found(labels)).toEqual({ kind: "Namespace", name: "payment" });
  });

  it("matches in a time linear in the length of a label, for any expression", () => {
    const reading = readProvenance({ path: "p.yaml", text: file.replace("[api, web]", "/(a+)+b/") });
    const rows = reading.kind === "valid" ? reading.reporters : [];
    const before = process.cpuUsage();

    findSubject({ job: "team-exporter", app: "a".repeat(30), namespace: "payment" }, {}, rows);

    // An expression that backtracks takes about ten seconds, and doubles with each further letter.
    expect(rows).toHaveLength(1);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  it.each([
    ["no list", "rows: []", "p.yaml:1: provenance is missing"],
    [
      "a row that is text",
      "provenance:\n  - team",
      "p.yaml:2: provenance[0] must be a row with name, match, scrape, subject",
    ],
    ["no name", file.replace("name: team exporter", "name: ''"), "p.yaml:2: provenance[0].name must not be empty"],
    [
      "scrape that is text",
      file.replace("[namespace, pod]", "pod"),
      "p.yaml:4: provenance[0].scrape must be a list of texts",
    ],
    [
      "a pattern of another type",
      file.replace("/team-.*/", "7"),
      "match.exporter must be text, a /regular expression/",
    ],
    ["labels in a list", file.replace("{ app: [api, web] }", "[app]"), "match.labels must be names with patterns"],
    [
      "an unknown step",
      file.replace("host", "machine"),
      'p.yaml:5: provenance[0].subject[2] is "machine"; there is objects',
    ],
    ["an unknown kind", file.replace("=Deployment", "=Deploymint"), 'provenance[0].subject[0] is "app=Deploymint"'],
    ["an unknown field", file.replace("scrape", "scraped"), "p.yaml:4: provenance[0].scraped is not a known field"],
    ["nothing to match", file.replace(/match: .*/, "match: {}"), "provenance[0].match must be one or more of exporter"],
    ["a broken expression", file.replace("/team-.*/", '"/team(/"'), "match.exporter is not a valid regular expression"],
  ])("with %s is refused with file and line", (_what, text, problem) => {
    const reading = readProvenance({ path: "p.yaml", text });

    expect(reading.kind === "invalid" && reading.problems.join("\n")).toContain(problem);
  });
});

function found(labels: Record<string, string>, annotations: Record<string, string> = {}): ObjectReference | undefined {
  const finding = findSubject(labels, annotations);
  return finding.kind === "object" ? finding.subject : undefined;
}

/** As the chart `prometheus` finds the endpoints of a Service. */
function discovered(app: string) {
  return {
    job: "kubernetes-service-endpoints",
    app_kubernetes_io_name: app,
    service: app,
    namespace: "monitoring",
    node: "infra-1",
    instance: "10.244.3.7:8080",
  };
}
