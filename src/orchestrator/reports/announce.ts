import type { RemediationRequest } from "../../resources/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Announcement } from "../action.ts";

/** Updates log and metrics. Never throws. */
export type Announce = (announcement: Announcement, incident: RemediationRequest) => void;

interface AnnouncerOptions {
  readonly log: Logger;
  /** Counts announcements. */
  readonly count: (announcement: Announcement) => void;
}

const logMessages = {
  diagnosed: "incident diagnosed",
  decided: "incident decided",
  "started-over": "incident decided again",
  recurred: "incident recurred",
  verifying: "incident verifying",
  acknowledged: "incident acknowledged",
  "acknowledgement-dropped": "acknowledgement dropped",
  closed: "incident closed",
  deleted: "incident deleted",
} as const satisfies Readonly<Record<Announcement["kind"], string>>;

export function announcer({ log, count }: AnnouncerOptions): Announce {
  return (announcement, { metadata, spec, status }) => {
    count(announcement);
    const { kind, ...details } = announcement;
    const { target, workflowId } = status?.diagnosis ?? {};
    log[kind === "recurred" ? "warn" : "info"](logMessages[kind], {
      incident: `${metadata.namespace}/${metadata.name}`,
      signalName: spec.signalName,
      targetResource: target,
      workflowId,
      ...details,
    });
  };
}
