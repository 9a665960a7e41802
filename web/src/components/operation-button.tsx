import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isStale } from "../live/live.ts";
import { operationTexts } from "../operations.ts";
import { location } from "../router.ts";
import { mayPerform } from "../session.ts";
import { OperationDialog, type OperationSubject } from "./operation-dialog.tsx";

interface OperationButtonProps extends OperationSubject {
  readonly isPrimary?: boolean;
  readonly label?: string;
}

/** The operation whose dialog is open. */
const opened = signal<OperationSubject | undefined>(undefined);

/** A button that opens the dialog of an operation. Without the right to it there is no button. */
export function OperationButton(props: OperationButtonProps) {
  const { operation, isPrimary = false, label } = props;
  if (!mayPerform(operation)) return null;
  const { isDangerous = false, ...texts } = operationTexts[operation];
  return (
    <button
      type="button"
      class="button small"
      data-primary={isPrimary || undefined}
      data-danger={isDangerous || undefined}
      disabled={isStale.value}
      title={isStale.value ? "The data is too old to act on" : undefined}
      onClick={() => {
        opened.value = props;
      }}
    >
      {label ?? texts.label}
    </button>
  );
}

/**
 * The dialog that a button has opened. It is not part of the button: the row of the button may move or disappear while the user
 * types, and the dialog then has to show the change.
 */
export function OpenedOperation() {
  const { path } = location.value;
  useEffect(() => closeOperation, [path]);
  return opened.value && <OperationDialog {...opened.value} onClose={closeOperation} />;
}

function closeOperation(): void {
  opened.value = undefined;
}
