import type { ExecutionRow } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { Phase } from "./badge.tsx";
import { Link, TargetLink } from "./link.tsx";
import { OperationButton } from "./operation-button.tsx";
import { Duration, Time } from "./time.tsx";

/** Executions, one line each, with buttons for their operations. */
export function ExecutionLines({ executions }: { readonly executions: readonly ExecutionRow[] }) {
  return (
    <ul class="lines">
      {executions.map((row) => (
        <li key={row.key} class="line">
          <div class="line-main">
            <Link to={objectPath("executions", row.key)} class="line-title" isRow>
              {row.workflow}
            </Link>
            <span class="line-sub mono">{row.name}</span>
          </div>
          <div class="line-where">
            <TargetLink target={row.target} />
          </div>
          <div class="line-why">
            <span>
              <Phase phase={row.phase} /> {row.reason}
            </span>
            {row.message !== undefined && (
              <span class="line-sub" title={row.message}>
                {row.message}
              </span>
            )}
          </div>
          <div class="line-when">
            <Time at={row.startedAt ?? row.createdAt} style="relative" />
            {row.startedAt !== undefined && (
              <span class="line-sub">
                <Duration from={row.startedAt} to={row.endedAt} />
              </span>
            )}
          </div>
          <div class="line-action">
            <ExecutionSteps row={row} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** The buttons of an execution: cancel while it runs, acknowledge and retry after its end. */
export function ExecutionSteps({ row }: { readonly row: ExecutionRow }) {
  const subject = `${row.workflow} on ${row.target}`;
  if (row.endedAt === undefined) return <OperationButton operation="cancel" subject={subject} row={row} />;
  return (
    <>
      {row.phase === "Failed" && <OperationButton operation="ack" subject={subject} row={row} />}
      <OperationButton operation="retry" subject={subject} row={row} />
    </>
  );
}
