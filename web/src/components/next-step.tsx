import type { IncidentRow } from "../../../src/console/wire.ts";
import { OperationButton } from "./operation-button.tsx";

/** The operations that would move an incident on, the best one first. */
export function NextStep({ row, max = 2 }: { readonly row: IncidentRow; readonly max?: number }) {
  return (
    <>
      {row.next.slice(0, max).map((operation, index) => (
        <OperationButton
          key={operation}
          operation={operation}
          subject={row.name}
          row={row}
          isPrimary={index === 0 && row.lane === "needsYou"}
        />
      ))}
    </>
  );
}
