import type { IncidentRow, OperationName } from "../../../src/console/wire.ts";
import { Link } from "./link.tsx";
import { OperationButton } from "./operation-button.tsx";

/** The operations that would move an incident on, the best one first. */
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
        // Several pauses may cover an incident: a person chooses which one to end.
        operation === "resume" ? (
          <Link key={operation} to="/pauses" class="button small">
            See pauses
          </Link>
        ) : (
          // An approval is answered once, so its answer needs no version; that of the incident is another object's.
          <OperationButton
            key={operation}
            operation={operation}
            subject={row.name}
            {...(operation === "approve" || operation === "reject"
              ? { request: { object: row.approval ?? row.key } }
              : { row })}
            isPrimary={index === 0 && row.lane === "needsYou"}
          />
        ),
      )}
    </>
  );
}
