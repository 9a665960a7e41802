import type { IncidentRow, Lane, OperationName } from "../../../src/console/wire.ts";
import { objectPath, withQuery } from "../api.ts";
import { formatCount } from "../format.ts";
import { laneTexts } from "../lanes.ts";
import { severityTone } from "../tones.ts";
import { Badge } from "./badge.tsx";
import { Link, TargetLink } from "./link.tsx";
import { NextStep } from "./next-step.tsx";
import { Countdown, Sentence, Time } from "./time.tsx";

interface IncidentLineProps {
  readonly row: IncidentRow;
  /** The number of incidents that the line stands for, such as "24" or "50+"; by default one. */
  readonly count?: string | undefined;
}

/** Incidents, one line each. */
export function IncidentLines({ incidents }: { readonly incidents: readonly IncidentRow[] }) {
  return (
    <ul class="lines">
      {incidents.map((row) => (
        <IncidentLine key={row.key} row={row} />
      ))}
    </ul>
  );
}

/** One or several incidents: signal, target, reason, the end of the wait, and the next step. */
export function IncidentLine({ row, count }: IncidentLineProps) {
  const all = withQuery("/incidents", { lane: row.lane, target: row.target, search: row.signal });
  return (
    <li class="line" data-tone={severityTone(row.severity)}>
      <div class="line-main">
        <Link to={count === undefined ? objectPath("incidents", row.key) : all} class="line-title" isRow>
          {row.signal}
        </Link>
        <span class="line-sub">
          {row.severity !== "unknown" && `${row.severity} · `}
          {count === undefined ? <span class="mono">{row.name}</span> : `${count} incidents`}
          {count === undefined && row.seen > 1 && ` · ${formatCount(row.seen)}×`}
        </span>
      </div>
      <IncidentWhere row={row} />
      <div class="line-why">
        <IncidentReason row={row} />
      </div>
      <div class="line-when">
        <IncidentWhen row={row} />
      </div>
      <div class="line-action">
        {count === undefined ? (
          <NextStep row={row} operations={lineOperations(row)} />
        ) : (
          <Link to={all} class="button small">
            Show {count}
          </Link>
        )}
      </div>
    </li>
  );
}

function IncidentWhere({ row }: { readonly row: IncidentRow }) {
  return (
    <div class="line-where">
      {row.target === undefined ? (
        <span class="mono" title={row.subject}>
          {row.subject}
        </span>
      ) : (
        <TargetLink target={row.target} />
      )}
      <span class="line-sub">{row.workflow ?? "no workflow"}</span>
    </div>
  );
}

/** Two at most. Cancel is offered only while something runs; the page of the incident always offers it. */
function lineOperations({ next, lane }: IncidentRow): readonly OperationName[] {
  return next.filter((operation) => operation !== "cancel" || lane === "running").slice(0, 2);
}

/** Why the incident is in its lane. */
function IncidentReason({ row }: { readonly row: IncidentRow }) {
  return (
    <>
      <span class="line-reason">{row.outcome ?? row.reason ?? row.phase}</span>
      {row.message !== undefined && (
        <span class="line-sub line-message" title={row.message}>
          <Sentence text={row.message} />
        </span>
      )}
    </>
  );
}

/** The relevant time or number of the lane: position in the queue, attempt, end of a wait, or age. */
function IncidentWhen({ row }: { readonly row: IncidentRow }) {
  if (row.closedAt !== undefined) return <Time at={row.closedAt} style="relative" />;
  return (
    <>
      {row.until !== undefined && <IncidentCountdown until={row.until} lane={row.lane} />}
      {row.lane === "queued" && row.position !== undefined && <QueuePlace position={row.position} />}
      {row.lane === "backingOff" && row.attempt && (
        <span class="line-sub">
          attempt {row.attempt.number} of {row.attempt.of}
        </span>
      )}
      {row.until === undefined && (
        <span class="line-sub">
          opened <Time at={row.createdAt} style="relative" />
        </span>
      )}
    </>
  );
}

/** The time until an incident changes by itself. */
export function IncidentCountdown({ until, lane }: { readonly until: string; readonly lane: Lane }) {
  return <Countdown until={until} prefix={laneTexts[lane].countdown ?? "next check in"} />;
}

/** The place of an incident in the queue of its target. */
export function QueuePlace({ position }: { readonly position: number }) {
  return <Badge tone="wait" text={position === 1 ? "next in queue" : `place ${position} in queue`} />;
}
