import { useState } from "preact/hooks";
import { isStale } from "../live/live.ts";
import { operationTexts } from "../operations.ts";
import { mayPerform } from "../session.ts";
import { OperationDialog, type OperationSubject } from "./operation-dialog.tsx";

interface OperationButtonProps extends OperationSubject {
  readonly isPrimary?: boolean;
  readonly label?: string;
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
