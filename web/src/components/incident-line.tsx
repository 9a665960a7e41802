import type { IncidentRow, OperationName } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { targetPath } from "../router.ts";
import { severityTone } from "../tones.ts";
import { Badge } from "./badge.tsx";
import { Link } from "./link.tsx";
import { NextStep } from "./next-step.tsx";
import { Countdown, Time } from "./time.tsx";

/** One incident in a lane: what happened, where, why it waits, until when, and the next step. */
export function IncidentLine({ row }: { readonly row: IncidentRow }) {
  return (
    <li class="line" data-tone={severityTone(row.severity)}>
      <div class="line-main">
        <Link to={objectPath("incidents", row.key)} class="line-title" isRow>
          {row.signal}
        </Link>
        <span class="line-sub">
          {row.severity} · <span class="mono">{row.name}</span>
          {row.seen > 1 && ` · seen ${row.seen}×`}
        </span>
      </div>
      <div class="line-where">
        {row.target === undefined ? (
          <span class="mono">{row.subject}</span>
        ) : (
          <Link to={targetPath(row.target)} class="mono">
            {row.target}
          </Link>
        )}
        <span class="line-sub">{row.workflow ?? "no workflow"}</span>
      </div>
      <div class="line-why">
        <IncidentReason row={row} />
      </div>
      <div class="line-when">
        <IncidentWhen row={row} />
      </div>
      <div class="line-action">
        <NextStep row={row} operations={lineOperations(row)} />
      </div>
    </li>
  );
}

/** Two at most. To cancel is never the way on: a line offers it only while something runs, the incident's page always. */
function lineOperations({ next, lane }: IncidentRow): readonly OperationName[] {
  return next.filter((operation) => operation !== "cancel" || lane === "running").slice(0, 2);
}

/** Why it is where it is. */
export function IncidentReason({ row }: { readonly row: IncidentRow }) {
  return (
    <>
      <span class="line-reason">{row.outcome ?? row.reason ?? row.phase}</span>
      {row.message !== undefined && (
        <span class="line-sub" title={row.message}>
          {row.message}
        </span>
      )}
    </>
  );
}

/** The number that matters in its lane: a place in the queue, an attempt, the end of a wait, or how long ago it was. */
export function IncidentWhen({ row }: { readonly row: IncidentRow }) {
  if (row.closedAt !== undefined) return <Time at={row.closedAt} style="relative" />;
  return (
    <>
      {row.until !== undefined && <Countdown until={row.until} />}
      {row.lane === "queued" && row.position !== undefined && <Badge tone="wait" text={`queue: ${row.position}`} />}
      {row.lane === "backingOff" && row.attempt && (
        <span class="line-sub">
          attempt {row.attempt.number} of {row.attempt.of}
        </span>
      )}
      {row.until === undefined && (
        <span class="line-sub">
          open <Time at={row.createdAt} style="relative" />
        </span>
      )}
    </>
  );
}
