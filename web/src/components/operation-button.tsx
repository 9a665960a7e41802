import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { OperationName, OperationRequest, Row } from "../../../src/console/wire.ts";
import { isStale } from "../live/live.ts";
import { operationTexts } from "../operations.ts";
import { mayPerform } from "../session.ts";
import { OperationDialog } from "./operation-dialog.tsx";

export interface OperationButtonProps {
  readonly operation: OperationName;
  /** What the operation is about, for the title of the dialog: "rr-1". */
  readonly subject: string;
  /** The row that the caller sees: the server refuses the operation if it has changed meanwhile. */
  readonly row?: Row | undefined;
  /** The part of the request that the caller does not fill in. By default the object of `row`. */
  readonly request?: Partial<OperationRequest>;
  /** The same part as the command line shows it, if `request` has secrets. */
  readonly shownRequest?: Partial<OperationRequest>;
  /** Fields of the caller, whose values are in `request`. */
  readonly form?: ComponentChildren;
  readonly isPrimary?: boolean;
  readonly label?: string;
  readonly onDone?: () => void;
}

/** A button that opens the dialog of an operation. Without the right to it there is no button. */
export function OperationButton(props: OperationButtonProps) {
  const { operation, isPrimary = false, label } = props;
  const [isOpen, setOpen] = useState(false);
  if (!mayPerform(operation)) return null;
  const { isDangerous = false, ...texts } = operationTexts[operation];
  return (
    <>
      <button
        type="button"
        class="button small"
        data-primary={isPrimary || undefined}
        data-danger={isDangerous || undefined}
        disabled={isStale.value}
        title={isStale.value ? "The data is too old to act on" : undefined}
        onClick={() => setOpen(true)}
      >
        {label ?? texts.label}
      </button>
      {isOpen && <OperationDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}
