import type { WrittenMapping } from "./mapping.ts";

/**
 * PagerDuty's webhook, version 3. It names no object: a rule, or a mapping of the installation, supplies the target.
 */
const pagerduty: WrittenMapping = {
  items: "[body.event]",
  when: 'item.event_type in ["incident.triggered", "incident.reopened", "incident.unacknowledged", "incident.escalated", "incident.resolved"]',
  name: "item.data.title",
  status: 'item.event_type == "incident.resolved" ? "resolved" : "firing"',
  severity: ["item.data.priority.summary", "item.data.urgency"],
  series: "item.data.id",
  // A reopened incident began before it was resolved; the time of the reopening counts.
  firingTime: 'item.event_type == "incident.resolved" ? item.data.created_at : item.occurred_at',
  endTime: 'item.event_type == "incident.resolved" ? item.occurred_at : ""',
  labels: {
    service: "item.data.service.summary",
    service_id: "item.data.service.id",
    urgency: "item.data.urgency",
    priority: "item.data.priority.summary",
    team: "item.data.teams[0].summary",
    incident_key: "item.data.incident_key",
  },
  annotations: { incident_url: "item.data.html_url", event_type: "item.event_type" },
};

const datadogObject = (kind: string, tag: string) => `labels.kube_namespace + "/${kind}/" + labels.${tag}`;

/** The webhook of Datadog, with its default payload or with the one that docs/senders.md recommends. */
const datadog: WrittenMapping = {
  when: 'has(item.alert_transition) || item.title.startsWith("[")',
  name: ["item.alert_title", 'item.title.extract("^\\\\[[^\\\\]]*\\\\] *(.+)$")', "item.title"],
  status: [
    'item.alert_transition.extract("(?i)recovered") != "" ? "resolved" : "firing"',
    'item.title.extract("(?i)^\\\\[[^\\\\]{]*recovered") != "" ? "resolved" : "firing"',
  ],
  severity: ["item.alert_priority", "item.alert_type"],
  series: ["item.alert_cycle_key", "item.aggreg_key", 'item.title.extract("^\\\\[[^\\\\]{]*(\\\\{[^}]*\\\\})")'],
  target: [
    "labels.interlock_target",
    datadogObject("deployment", "kube_deployment"),
    datadogObject("statefulset", "kube_stateful_set"),
    datadogObject("daemonset", "kube_daemon_set"),
    datadogObject("cronjob", "kube_cronjob"),
    datadogObject("job", "kube_job"),
    datadogObject("pod", "pod_name"),
    datadogObject("service", "kube_service"),
    '"node/" + labels.kube_node',
    '"namespace/" + labels.kube_namespace',
  ],
  firingTime: ["item.date"],
  endTime: ["item.date"],
  labels: ['pairs(item.tags.split(","), ":")', 'pairs(item.title.extract("\\\\{([^}]*)\\\\}").split(","), ":")'],
  annotations: { link: "item.link", message: "item.body", alert_id: "item.alert_id", alert_scope: "item.alert_scope" },
};

/** CloudEvents 1.0 in JSON, one event or a batch. `data` may have the fields of a signal. */
const cloudevents: WrittenMapping = {
  require: 'item.specversion == "1.0" && item.id != "" && item.source != "" && item.type != ""',
  name: ["item.data.name", 'item.type.extract("^(.+)[.](?:firing|triggered|resolved|recovered)$")', "item.type"],
  status: ["item.data.status", 'item.type.extract("[.](resolved|recovered)$") != "" ? "resolved" : "firing"'],
  severity: ["item.data.severity", "item.severity"],
  target: ["item.data.target", 'item.subject.extract("^(?:[^/]+/)?[^/]+/[^/]+$")'],
  series: ["item.data.series", 'item.source + " " + item.subject', "item.source"],
  firingTime: ["item.data.firingTime", "item.time"],
  endTime: ["item.data.endTime", "item.time"],
  labels: ["item.data.labels"],
  annotations: {
    event_id: "item.id",
    event_source: "item.source",
    event_type: "item.type",
    summary: "item.data.summary",
  },
};

/** Senders whose payloads are read by a mapping that is shipped; an installation may replace fields of it. */
export const builtInMappings: Readonly<Record<string, WrittenMapping>> = { pagerduty, datadog, cloudevents };
