/** The choices for a new installation. */
export interface Choices {
  readonly source: keyof typeof sources;
  readonly kind: keyof typeof targetKinds;
  readonly notify: keyof typeof channels;
}

/** The sources of alerts. */
export const sources = {
  alertmanager: "Alertmanager of Prometheus",
  grafana: "Grafana unified alerting",
  generic: "another program, which posts a name and a target as JSON",
} as const;

/** The kinds of the first target, each with an alert of kube-prometheus about it. */
export const targetKinds = {
  node: {
    about: "a node",
    kind: "Node",
    alert: "KubeNodeDiskPressure",
    labels: { node: "worker-1" },
    target: "node/worker-1",
  },
  deployment: {
    about: "a Deployment",
    kind: "Deployment",
    alert: "KubeDeploymentReplicasMismatch",
    labels: { namespace: "payment", deployment: "payment-api" },
    target: "payment/deployment/payment-api",
  },
  statefulset: {
    about: "a StatefulSet",
    kind: "StatefulSet",
    alert: "KubeStatefulSetReplicasMismatch",
    labels: { namespace: "payment", statefulset: "ledger" },
    target: "payment/statefulset/ledger",
  },
  persistentvolumeclaim: {
    about: "a PersistentVolumeClaim",
    kind: "PersistentVolumeClaim",
    alert: "KubePersistentVolumeFillingUp",
    labels: { namespace: "payment", persistentvolumeclaim: "ledger-0" },
    target: "payment/persistentvolumeclaim/ledger-0",
  },
} as const;

/** The channels of notices. */
export const channels = {
  console: "the terminal of the process",
  file: "a file, one line of JSON each",
  slack: "a Slack channel",
} as const;

export const defaultChoices: Choices = { source: "alertmanager", kind: "node", notify: "console" };

/** The option that an answer selects by its name or its number, counted from 1. An empty answer selects the default. */
export function readAnswer<Name extends string>(
  answer: string,
  options: readonly Name[],
  fallback: Name,
): Name | undefined {
  const text = answer.trim().toLowerCase();
  if (text === "") return fallback;
  return options.find((option, i) => option === text || String(i + 1) === text);
}
