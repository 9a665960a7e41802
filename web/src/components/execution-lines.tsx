import type { ExecutionRow } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { targetPath } from "../router.ts";
import { Phase } from "./badge.tsx";
import { Link } from "./link.tsx";
import { OperationButton } from "./operation-button.tsx";
import { Duration, Time } from "./time.tsx";

/** Executions, one line each, with what can be done about them. */
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
            <Link to={targetPath(row.target)} class="mono">
              {row.target}
            </Link>
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

/** What a person can do about an execution: stop it while it runs, run it again once it has ended. */
export function ExecutionSteps({ row }: { readonly row: ExecutionRow }) {
  if (row.endedAt === undefined)
    return <OperationButton operation="cancel" subject={`${row.workflow} on ${row.target}`} row={row} />;
  return (
    <>
      {row.phase === "Failed" && (
        <OperationButton operation="ack" subject={`${row.workflow} on ${row.target}`} row={row} />
      )}
      <OperationButton operation="retry" subject={`${row.workflow} on ${row.target}`} row={row} />
    </>
  );
}
