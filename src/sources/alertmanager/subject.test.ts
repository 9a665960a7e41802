import { describe, expect, it } from "vitest";
import { subjectOf } from "./subject.ts";

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
      "what reports about itself",
      { job: "payment-api", pod: "payment-api-1", namespace: "payment" },
      pod("payment-api-1"),
    ],
  ])("is %s", (_what, labels, subject) => {
    expect(subjectOf(labels, {})).toEqual(subject);
  });

  it.each([
    [
      "a Pod that kube-state-metrics reports with honor_labels",
      { ...ksm, namespace: "payment", pod: "api-1" },
      pod("api-1"),
    ],
    [
      "a Pod that gave way to the exporter's",
      { ...ksm, ...ksmPod, exported_pod: "api-1", exported_namespace: "payment" },
      pod("api-1"),
    ],
    [
      "a node that kube-state-metrics reports",
      { ...ksm, ...ksmPod, node: "worker-1" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "a node that gave way to the exporter's",
      { ...ksm, ...ksmPod, node: "infra-1", exported_node: "worker-1" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "a Deployment in the namespace that gave way",
      { ...ksm, ...ksmPod, deployment: "api", exported_namespace: "payment" },
      { kind: "Deployment", namespace: "payment", name: "api" },
    ],
    [
      "a namespace that gave way, not the node of the exporter",
      { ...ksm, ...ksmPod, node: "infra-1", exported_namespace: "payment" },
      { kind: "Namespace", name: "payment" },
    ],
    [
      "the node of a node exporter",
      { ...exporter, node: "worker-1", instance: "10.0.0.5:9100" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "the node that a node exporter's instance names",
      { ...exporter, instance: "worker-1:9100" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "the node by its nodename",
      { ...exporter, nodename: "worker-1", instance: "10.0.0.5:9100" },
      { kind: "Node", name: "worker-1" },
    ],
    [
      "the exporter's Pod, when another exporter reports about it",
      { ...ksm, namespace: "monitoring", pod: "node-exporter-x8k2p" },
      pod("node-exporter-x8k2p", "monitoring"),
    ],
  ])("is %s", (_what, labels, subject) => {
    expect(subjectOf(labels, {})).toEqual(subject);
  });

  it.each([
    ["the exporter is all that is named", { ...ksm, ...ksmPod }],
    ["a node exporter has only an address", { ...exporter, instance: "10.0.0.5:9100" }],
    ["a node exporter has only an IPv6 address", { ...exporter, instance: "[fd00::5]:9100" }],
    ["there is nothing but a service", { job: "x", service: "x", endpoint: "http" }],
    ["a Pod has no namespace", { pod: "api-1" }],
  ])("is unknown when %s", (_what, labels) => {
    expect(subjectOf(labels, {})).toBeUndefined();
  });

  it("is what the rule's author wrote", () => {
    const written = { kind: "deploy", namespace: "payment", name: "api" };

    expect(subjectOf({ node: "worker-1" }, { interlock_target: "payment/deploy/api" })).toEqual(written);
    expect(subjectOf({ node: "worker-1", interlock_target: "node/b" }, {})).toEqual({ kind: "node", name: "b" });
  });
});
