export const token = "a-token-for-benchmarks";
export const path = "/api/v1/signals/alertmanager";

/** How many incidents the load is about: as many alerts as a bad day has. */
const fingerprints = 50;

/** Alertmanager's webhook with so many alerts, each of another fingerprint. */
export function webhook(alerts: number, first = 0): string {
  return JSON.stringify({
    version: "4",
    groupKey: '{}:{alertname="NodeFilesystemFull"}',
    status: "firing",
    receiver: "interlock",
    truncatedAlerts: 0,
    externalURL: "http://alertmanager:9093",
    alerts: Array.from({ length: alerts }, (_, i) => alert((first + i) % fingerprints)),
  });
}

function alert(i: number): object {
  return {
    status: "firing",
    labels: {
      alertname: "NodeFilesystemFull",
      severity: "critical",
      node: `worker-${i}`,
      job: "node-exporter",
      device: "/dev/sda1",
    },
    annotations: { summary: "The file system is nearly full.", runbook_url: "https://runbooks.example.com/disk" },
    startsAt: "2026-11-15T06:00:00Z",
    endsAt: "0001-01-01T00:00:00Z",
    generatorURL: "http://prometheus:9090/graph?g0.expr=node_filesystem_avail_bytes",
    fingerprint: `5c1f2a3b4d5e6f${String(i).padStart(2, "0")}`,
  };
}
