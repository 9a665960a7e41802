import type { LedgerEvent, LedgerEventType } from "../../ledger/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { cutText } from "../../telemetry/index.ts";
import type { ExecutionRow, IncidentRow, PauseRow, TimelineEvent } from "../wire.ts";

type EventStyle = Pick<TimelineEvent, "lane" | "tone">;

/** The lane and the tone of each type. Types that are not listed concern the ledger or deliveries, not a target. */
const styles: Readonly<Partial<Record<LedgerEventType, EventStyle>>> = {
  "incident.created": { lane: "signals", tone: "bad" },
  "incident.recurred": { lane: "signals", tone: "bad" },
  "signals.counted": { lane: "signals", tone: "neutral" },
  "signal.resolved": { lane: "signals", tone: "good" },
  "signal.refused": { lane: "signals", tone: "wait" },
  "signal.ignored": { lane: "signals", tone: "neutral" },
  "incident.diagnosed": { lane: "decisions", tone: "neutral" },
  "incident.decided": { lane: "decisions", tone: "neutral" },
  "incident.closed": { lane: "decisions", tone: "neutral" },
  "incident.deleted": { lane: "decisions", tone: "neutral" },
  "execution.admitted": { lane: "decisions", tone: "good" },
  "execution.skipped": { lane: "decisions", tone: "wait" },
  "target.freed": { lane: "decisions", tone: "neutral" },
  "target.rebuilt": { lane: "decisions", tone: "neutral" },
  "run.created": { lane: "runs", tone: "neutral" },
  "run.cancelled": { lane: "runs", tone: "bad" },
  "execution.started": { lane: "runs", tone: "neutral" },
  "execution.completed": { lane: "runs", tone: "good" },
  "execution.failed": { lane: "runs", tone: "bad" },
  "execution.deleted": { lane: "runs", tone: "neutral" },
  "approval.requested": { lane: "operators", tone: "wait" },
  "approval.answered": { lane: "operators", tone: "neutral" },
  "failure.acknowledged": { lane: "operators", tone: "good" },
  "incident.cancelled": { lane: "operators", tone: "bad" },
  "execution.cancelled": { lane: "operators", tone: "bad" },
  "pause.started": { lane: "pauses", tone: "wait" },
  "pause.ended": { lane: "pauses", tone: "good" },
};

/** In characters. Texts of external systems may be long. */
const maxDetailLength = 500;

/** Earlier events are on the page of the ledger. */
export const maxTimelineEvents = 500;

/** The newest events that a timeline shows, oldest first. A start and its end are one event that lasts. */
export function ledgerTimeline(recorded: readonly LedgerEvent[]): readonly TimelineEvent[] {
  const events = recorded.slice(-maxTimelineEvents);
  const started = new Set(events.filter(({ type }) => startTypes.has(type)).map(lastingId));
  const ends = new Map(events.filter(({ type }) => endTypes.has(type)).map((event) => [lastingId(event), event]));
  return events.flatMap((event) => {
    const style = styles[event.type];
    if (!style || (endTypes.has(event.type) && started.has(lastingId(event)))) return [];
    const end = startTypes.has(event.type) ? ends.get(lastingId(event)) : undefined;
    return [toTimelineEvent(event, end, style)];
  });
}

const startTypes: ReadonlySet<string> = new Set(["execution.started", "pause.started"]);
const endTypes: ReadonlySet<string> = new Set(["execution.completed", "execution.failed", "pause.ended"]);

/** The execution or the pause that an event starts or ends. */
function lastingId({ facts }: LedgerEvent): string {
  return String(facts["execution_id"] ?? facts["pause"] ?? "");
}

function toTimelineEvent(event: LedgerEvent, end: LedgerEvent | undefined, { lane, tone }: EventStyle): TimelineEvent {
  const shown = end ?? event;
  // In these lanes a timeline draws an event without an end up to the present, which is right only for a run or a pause.
  const isMoment = (lane === "runs" || lane === "pauses") && !startTypes.has(event.type);
  const until = end?.at ?? (isMoment ? event.at : undefined);
  const detail = describeEvent(shown);
  const link = eventLink(event);
  return {
    at: event.at,
    ...(until === undefined ? {} : { until }),
    lane,
    title: eventTitle(shown),
    ...(detail === "" ? {} : { detail }),
    ...(event.type === "signals.counted" ? { signals: Number(event.facts["occurrences"] ?? 0) } : {}),
    tone: shown.type === "incident.decided" ? decisionTone(shown) : (styles[shown.type]?.tone ?? tone),
    ...(link === undefined ? {} : { link }),
  };
}

function decisionTone({ facts }: LedgerEvent): TimelineEvent["tone"] {
  return facts["verdict"] === "block" ? "wait" : "good";
}

const decisionTitles: Readonly<Record<string, string>> = {
  run: "decided to run the workflow",
  follow: "decided to follow another run",
  ask: "decided to ask for an approval",
  observe: "decided to observe only",
};

/** An event in a few words. */
export function eventTitle({ type, facts }: LedgerEvent): string {
  const fact = (name: string) => cutText(String(facts[name] ?? ""), 100);
  switch (type) {
    case "incident.created":
      return `${fact("signal_name")} opened an incident`;
    case "signals.counted":
      return facts["occurrences"] === 1 ? "1 signal" : `${fact("occurrences")} signals`;
    case "incident.decided":
      return facts["verdict"] === "block"
        ? `blocked: ${fact("reason")}`
        : (decisionTitles[fact("verdict")] ?? `decided: ${fact("verdict")}`);
    case "incident.diagnosed":
      return facts["workflow_id"] === undefined ? "no rule matches" : `diagnosed: ${fact("workflow_id")}`;
    case "approval.requested":
      return `approval of ${fact("workflow_id")} requested`;
    case "execution.admitted":
      return `${fact("workflow_id")} admitted`;
    case "run.created":
      return `run of ${fact("workflow_id")} created`;
    case "incident.closed":
      return `closed: ${fact("outcome")}`;
    case "execution.skipped":
      return `skipped: ${fact("skip_reason")}`;
    case "execution.started":
      return `${fact("workflow_id")} runs`;
    case "execution.completed":
      return `${fact("workflow_id")} succeeded`;
    case "execution.failed":
      return `${fact("workflow_id")} failed`;
    case "approval.answered":
      return `approval: ${fact("decision")}${facts["by"] === undefined ? "" : ` by ${fact("by")}`}`;
    case "failure.acknowledged":
      return `acknowledged by ${fact("by")}`;
    default:
      return type.replace(".", " ");
  }
}

/** The reason or message of an event. It may be an external text. */
export function describeEvent({ facts }: LedgerEvent): string {
  const text = ["message", "because", "reason", "failure_message"].map((name) => facts[name]).find(isText) ?? "";
  return cutText(shortNames(text), maxDetailLength);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function eventLink({ facts }: LedgerEvent): string | undefined {
  const execution = facts["execution"];
  return typeof execution === "string" ? `/executions/${execution}` : undefined;
}

/** The events that the objects themselves show, where the ledger cannot be read. */
export function objectTimeline(
  incidents: readonly IncidentRow[],
  executions: readonly ExecutionRow[],
): readonly TimelineEvent[] {
  const events = [
    ...incidents.flatMap(incidentEvents),
    ...executions.map((row) => ({
      at: row.startedAt ?? row.createdAt,
      ...(row.endedAt === undefined ? {} : { until: row.endedAt }),
      lane: "runs" as const,
      title: `${row.workflow}: ${row.reason ?? row.phase}`,
      ...(row.message === undefined ? {} : { detail: row.message }),
      tone: executionTone(row.phase),
      link: `/executions/${row.key}`,
    })),
  ];
  return inOrder(events);
}

function incidentEvents({ key, signal, createdAt, closedAt, outcome, reason }: IncidentRow): readonly TimelineEvent[] {
  const link = `/incidents/${key}`;
  return [
    { at: createdAt, lane: "signals", title: `${signal} opened an incident`, tone: "bad", link },
    ...(reason === undefined
      ? []
      : [{ at: createdAt, lane: "decisions" as const, title: `blocked: ${reason}`, tone: "wait" as const, link }]),
    ...(closedAt === undefined
      ? []
      : [{ at: closedAt, lane: "decisions" as const, title: `closed: ${outcome}`, tone: "neutral" as const, link }]),
  ];
}

function executionTone(phase: string): TimelineEvent["tone"] {
  return ({ Completed: "good", Failed: "bad", Skipped: "wait" } as const)[phase] ?? "neutral";
}

/** Pauses as events with a duration. */
export function pauseTimeline(pauses: readonly PauseRow[]): readonly TimelineEvent[] {
  return pauses.map(({ createdAt, endedAt, until, scope, author, reason }) => {
    const end = endedAt ?? until;
    return {
      at: createdAt,
      ...(end === undefined ? {} : { until: end }),
      lane: "pauses",
      title: `${scope} paused by ${author}`,
      detail: reason,
      tone: "wait",
    };
  });
}

export function inOrder(events: readonly TimelineEvent[]): readonly TimelineEvent[] {
  return [...events].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
