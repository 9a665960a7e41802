import type { IncidentRow, OperationName } from "../../../src/console/wire.ts";
import { ApprovalFacts } from "./approval-facts.tsx";
import { Link } from "./link.tsx";
import { OperationButton } from "./operation-button.tsx";

/** Buttons for the operations that help an incident, the best one first. */
export function NextStep({
  row,
  operations = row.next,
}: {
  readonly row: IncidentRow;
  readonly operations?: readonly OperationName[];
}) {
  return (
    <>
      {operations.map((operation, index) =>
        // Several pauses may cover an incident: the user chooses one of them.
        operation === "resume" ? (
          <Link key={operation} to="/pauses" class="button small">
            See pauses
          </Link>
        ) : (
          // An approval is answered once, so its answer needs no version; that of the incident is another object's.
          <OperationButton
            key={operation}
            operation={operation}
            subject={incidentTitle(row)}
            {...(operation === "approve" || operation === "reject"
              ? {
                  request: { object: row.approval ?? row.key },
                  ...(row.approval !== undefined && { form: <ApprovalFacts of={row.approval} /> }),
                }
              : { row })}
            isPrimary={index === 0 && row.lane === "needsYou"}
          />
        ),
      )}
    </>
  );
}

/** The name of an incident in the title of a dialog: workflow and target, not an identifier. */
function incidentTitle({ workflow, target, signal, subject }: IncidentRow): string {
  return workflow === undefined || target === undefined ? `${signal} of ${subject}` : `${workflow} on ${target}`;
}
