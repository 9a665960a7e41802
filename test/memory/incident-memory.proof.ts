import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { incidentMemory } from "./incident-memory.ts";

const maxBytes = 8 * 1_024;

describe("an open incident at rest", () => {
  it.each([
    ["a usual alert", usualAlert],
    ["an alert that exceeds every limit for its texts", largestAlert],
    ["an alert in another alphabet", (i: number) => largestAlert(i, cyrillicText)],
  ])("costs at most 8 KB of memory after %s", { timeout: 600_000 }, async (_signal, alert) => {
    const bytes = await incidentMemory({ count: 1_500, alert });

    expect(bytes).toBeLessThanOrEqual(maxBytes);
    // A measurement that finds nothing would be one of the wrong thing.
    expect(bytes).toBeGreaterThan(1_000);
  });

  it("costs at most 8 KB of memory with 64 series of 4 KB each", { timeout: 600_000 }, async () => {
    const alert = (i: number) => largeSeries(Math.floor(i / 64), i % 64);
    const bytes = await incidentMemory({ count: 300, alert, alertsPerIncident: 64 });

    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(1_000);
  });
});

/** One of many alerts about a Deployment, which differ in as many characters as a series may have. */
function largeSeries(incident: number, series: number) {
  const { labels, ...rest } = usualAlert(incident);
  const { pod: _, ...shared } = labels;
  const many = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`label${n}`, randomText(900)]));
  return { ...rest, labels: { ...shared, ...many, series: `series-${series}` } };
}

function usualAlert(i: number) {
  const labels = {
    alertname: "KubePodCrashLooping",
    namespace: "payment",
    pod: `api-${i}-7d8f9c6b5-x2x4z`,
    deployment: `api-${i}`,
    container: "api",
    job: "kube-state-metrics",
    instance: "10.2.3.4:8080",
    severity: "critical",
    cluster: "prod-eu-1",
    prometheus: "monitoring/k8s",
    service: "kube-prometheus-stack-kube-state-metrics",
    uid: randomText(36),
  };
  const annotations = {
    summary: "Pod is crash looping.",
    description: `Pod payment/api-${i} (api) is in waiting state (reason: "CrashLoopBackOff") on cluster prod-eu-1.`,
    runbook_url: "https://runbooks.example.com/runbooks/kubernetes/kubepodcrashlooping",
  };
  const generatorURL = `https://prometheus.example.com/graph?g0.expr=${encodeURIComponent(
    'max_over_time(kube_pod_container_status_waiting_reason{reason="CrashLoopBackOff"}[5m]) >= 1',
  )}&g0.tab=1`;
  const startsAt = new Date(Date.now() - 60_000).toISOString();
  return { status: "firing", labels, annotations, startsAt, generatorURL, fingerprint: randomText(16) };
}

/** More than is kept of labels, annotations and payload. */
function largestAlert(i: number, text: (length: number) => string = randomText) {
  const { labels, annotations, ...rest } = usualAlert(i);
  const many = (prefix: string) => Object.fromEntries(Array.from({ length: 12 }, (_, n) => [prefix + n, text(1_000)]));
  return { ...rest, labels: { ...labels, ...many("label") }, annotations: { ...annotations, ...many("annotation") } };
}

function randomText(length: number): string {
  return randomBytes(length).toString("base64url").slice(0, length);
}

function cyrillicText(length: number): string {
  return Array.from(randomBytes(length), (byte) => String.fromCharCode(0x410 + (byte % 64))).join("");
}
