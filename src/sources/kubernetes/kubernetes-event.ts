import type { SignalReader } from "../../resources/index.ts";
import { eventSource, signalOfEvent } from "./event-signal.ts";

/** Reads an Event that somebody forwards. */
export const kubernetesEvent: SignalReader = {
  source: eventSource,
  read: (body, receivedAt) => ({ kind: "signals", readings: [signalOfEvent(body, receivedAt)], truncated: 0 }),
};
