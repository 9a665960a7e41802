import { isJsonObject, type KubeObject } from "../../kube/index.ts";
import {
  explainReadings,
  type PayloadReading,
  type SignalReader,
  type SignalReading,
  signalTime,
} from "../../resources/index.ts";
import { toStorable } from "../../telemetry/index.ts";
import { Problems, unreadable } from "../json.ts";
import { limitTexts } from "../limit-texts.ts";

/** The fields of an Event, of either API group, that select it. Old and new recorders fill in different times. */
export interface WatchedEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string } | null;
}

const eventSource = "kubernetes-events";

/** When the Event happened last. */
export function eventTime({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: WatchedEvent): string {
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp, metadata.creationTimestamp];
  for (const time of times) {
    const read = signalTime(time);
    if (read) return read;
  }
  return "";
}

type EventReading = Exclude<SignalReading, { kind: "ignored" }>;

/** The signal that a Warning is. Anything else is a problem: a Normal Event reports no trouble. */
export function toEventSignal(event: unknown, receivedAt: string): EventReading {
  if (!isJsonObject(event)) return unreadable("the body is not an Event");
  const found = new Problems();
  const { type, involvedObject, metadata } = event;
  if (type !== "Warning") found.add("type is not Warning: other Events report no problem");
  const reason = found.text(event["reason"], "reason", 253);
  if (!isJsonObject(involvedObject)) found.add("involvedObject is missing");
  const about = isJsonObject(involvedObject) ? involvedObject : {};
  const kind = found.text(about["kind"], "involvedObject.kind", 253);
  const name = found.text(about["name"], "involvedObject.name", 253);
  const read = { ...(event as unknown as WatchedEvent), metadata: isJsonObject(metadata) ? metadata : {} };
  if (found.list.length > 0) return { kind: "problems", problems: found.list };

  const namespace = toText(about["namespace"]);
  const apiVersion = toText(about["apiVersion"]);
  const node = findNodeName(event);
  const message = toText(event["message"]);
  return {
    kind: "signal",
    signal: {
      status: "firing",
      source: eventSource,
      name: reason,
      severity: "warning",
      subject: { kind, name, ...(namespace ? { namespace } : {}), ...(apiVersion ? { apiVersion } : {}) },
      series: [namespace, kind, name].join("/"),
      labels: node === undefined ? {} : { node },
      annotations: message ? limitTexts({ message }) : {},
      firingAt: eventTime(read) || receivedAt,
      isOccurrence: true,
      payload: event,
    },
  };
}

/**
 * Returns the node of an Event. Events of the old API have it in `source.host`; with the new API a kubelet reports
 * under the name of its node, and any other component under a name of its own.
 */
function findNodeName({
  source,
  reportingComponent,
  reportingInstance,
}: Readonly<Record<string, unknown>>): string | undefined {
  const host = isJsonObject(source) ? toText(source["host"]) : "";
  const instance = reportingComponent === "kubelet" ? toText(reportingInstance) : "";
  const node = host || instance;
  return node.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(node) ? node : undefined;
}

function toText(value: unknown): string {
  return typeof value === "string" ? toStorable(value) : "";
}

/** Reads an Event that a sender forwards. */
export const kubernetesEvent: SignalReader = {
  source: eventSource,
  read: readEvent,
  explain: (body, receivedAt) => explainReadings(readEvent(body, receivedAt), fieldTable),
};

function readEvent(body: unknown, receivedAt: string): PayloadReading {
  return { kind: "signals", readings: [toEventSignal(body, receivedAt)], truncated: 0 };
}

const fieldTable = [
  ["name", "reason"],
  ["severity", "always warning"],
  ["status", "always firing"],
  ["subject", "involvedObject"],
  ["labels", "node: source.host, or the reportingInstance of a kubelet"],
  ["firingAt", "series.lastObservedTime, lastTimestamp, eventTime, firstTimestamp, or metadata.creationTimestamp"],
] as const;
