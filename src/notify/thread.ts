import {
  closedStatus,
  isDigested,
  isSettled,
  type NotificationRequest,
  type RemediationRequest,
} from "../resources/index.ts";

/** The place of a message among those about the same incident on one channel. */
export interface Thread {
  /** The same for all notices of an incident: its uid. For a notice without an incident: the uid of the notice. */
  readonly key: string;
  /** `resolve`: the incident is over, and no operator has to act. */
  readonly step: "open" | "update" | "resolve";
  /** Id and title of the first message. Absent for `open`. */
  readonly opened?: { readonly id: string; readonly title: string };
}

/** The incident of a notice. */
export interface IncidentState {
  /** Undefined: there is none, it was deleted, or no channel follows incidents. */
  readonly incident: RemediationRequest | undefined;
  /** All notices about it except this one. */
  readonly others: readonly NotificationRequest[];
}

/** Decides the place of a notice in its thread on a channel. Returns undefined if the channel does not get the notice. */
export function threadOn(
  channel: { readonly name: string; readonly style: ChannelStyle },
  notice: NotificationRequest,
  { incident, others, isRouted }: IncidentState & { readonly isRouted: boolean },
): Thread | undefined {
  const { name, style } = channel;
  const { severity, onlyOpenThreads, remediationRequestRef } = notice.spec;
  const key = remediationRequestRef?.uid ?? notice.metadata.uid ?? "";
  const mayOpen = isRouted && !onlyOpenThreads;
  if (style === "notices") return mayOpen ? { key, step: "open" } : undefined;

  const opened = findOpened(name, others);
  if (isEnd(notice) && opened && isOver(incident)) return { key, step: "resolve", opened };
  // An alert pages an operator, and a resolved alert would be opened again.
  if (!mayOpen || (style === "alert" && severity === "info")) return undefined;
  if (!opened) return { key, step: "open" };
  if (style === "messages" && !needsOperator(notice)) return undefined;
  return { key, step: "update", opened };
}

/** The first delivery opened the thread: notices of one second have no order of their own. */
function findOpened(channel: string, notices: readonly NotificationRequest[]): Thread["opened"] {
  const marks = notices.flatMap(({ spec, status }) =>
    (status?.deliveryAttempts ?? []).flatMap(({ channel: name, at, thread: id }) =>
      name === channel && id !== undefined ? [{ at, id, title: splitTitle(spec.message).title }] : [],
    ),
  );
  const [first] = marks.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return first && { id: first.id, title: first.title };
}

function needsOperator({ spec }: NotificationRequest): boolean {
  return spec.severity === "critical" || spec.eventType === "ApprovalRequired";
}

/** Whether a notice is about the end of its incident. */
export function isEnd({ spec }: NotificationRequest): boolean {
  return spec.eventType === "IncidentClosed";
}

/** Whether an incident is closed and its end is recorded: by then the orchestrator has created its notice about the end. */
export function isClosed(incident: RemediationRequest): boolean {
  const { conditions = [] } = closedStatus(incident) ?? {};
  return conditions.some(({ type, status }) => type === "Recorded" && status === "True");
}

/** Whether an incident is closed and needs no manual review. */
export function isOver(incident: RemediationRequest | undefined): boolean {
  return incident !== undefined && isClosed(incident) && !incident.status?.requiresManualReview;
}

/** Whether a notice opened or continued a thread on some channel. */
export function hasThread({ status }: NotificationRequest): boolean {
  return status?.deliveryAttempts?.some(({ thread }) => thread !== undefined) ?? false;
}

/** Whether the end of an incident has to wait for this notice about it. A skip that waits for its digest is not awaited. */
export function isUnderWay(notice: NotificationRequest): boolean {
  return !isSettled(notice.status) && !isEnd(notice) && !(isDigested(notice) && !notice.status);
}

/**
 * How an incident appears on a channel.
 *
 * - `notices`: each notice by itself, for programs and logs. Incidents are neither collected nor resolved.
 * - `messages`: the service can neither edit nor thread. An incident is its first message, later ones only if an
 *   operator must act, and the resolution.
 * - `thread`: an incident is one thread. Each notice is a reply, and so is the resolution.
 * - `alert`: an incident is one alert, opened and updated by warnings and critical notices, and resolved.
 */
export type ChannelStyle = "notices" | "messages" | "thread" | "alert";

/** Splits the text of a notice into its first sentence, which fits a subject line or a pager, and the rest. */
export function splitTitle(text: string): { readonly title: string; readonly details: string } {
  const end = text.search(/(?<=[.?!])\s+(?=\p{Lu})/u);
  if (end < 0) return { title: text, details: "" };
  return { title: text.slice(0, end).replace(/\.$/, ""), details: text.slice(end).trim() };
}
