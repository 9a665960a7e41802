import { explainReadings, type PayloadReading, type SignalReader } from "../../resources/index.ts";
import { eventSource, toEventSignal } from "./event-signal.ts";

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
