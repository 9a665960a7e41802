export type Payload =
  | { readonly kind: "valid"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly message: string };

/** Parses the pasted text. The message is that of the browser. */
export function parsePayload(text: string): Payload {
  if (text.trim() === "") return { kind: "invalid", message: "Paste the body of an alert first." };
  try {
    return { kind: "valid", value: JSON.parse(text) };
  } catch (error) {
    return { kind: "invalid", message: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** The sources that need no configuration. The name of a configured source, sources.NAME.map, can be typed. */
export const knownSources = [
  "alertmanager",
  "alertmanager-groups",
  "generic",
  "kubernetes-events",
  "grafana",
  "pagerduty",
  "datadog",
  "cloudevents",
] as const;

export const examplePayload = JSON.stringify(
  {
    version: "4",
    status: "firing",
    receiver: "interlock",
    groupLabels: { alertname: "KubeNodeDiskPressure" },
    alerts: [
      {
        status: "firing",
        labels: { alertname: "KubeNodeDiskPressure", node: "worker-1", severity: "warning" },
        annotations: { summary: "The node worker-1 is running out of disk space." },
      },
    ],
  },
  undefined,
  2,
);
