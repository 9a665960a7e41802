import { useState } from "preact/hooks";
import type { ApprovalRow } from "../../../src/console/wire.ts";
import { type BatchItem, batchCommands, performBatch, type RefusedItem } from "../batch.ts";
import { formatQuantity } from "../format.ts";
import { newKey, operationTexts, performOperation } from "../operations.ts";
import { Command } from "./empty-state.tsx";
import { Modal } from "./modal.tsx";
import { ReasonField, SubmitButton } from "./operation-dialog.tsx";
import { showToast } from "./toasts.tsx";

interface BatchDialogProps {
  readonly operation: "approve" | "reject";
  readonly rows: readonly ApprovalRow[];
  readonly onClose: () => void;
}

const outcomes = { approve: "approved", reject: "rejected" };

/** Answers several approvals with one reason. Those that are refused stay in the dialog, each with its reason. */
export function BatchDialog({ operation, rows, onClose }: BatchDialogProps) {
  const { label, effect } = operationTexts[operation];
  const [reason, setReason] = useState("");
  // One key for each object while the dialog is open: neither a second click nor a second attempt has a second effect.
  const [items, setItems] = useState<readonly BatchItem[]>(() =>
    rows.map((row) => ({ row, key: newKey((bytes) => crypto.getRandomValues(bytes)) })),
  );
  const [refused, setRefused] = useState<readonly RefusedItem[]>([]);
  const [done, setDone] = useState<number>();
  const isSending = done !== undefined;

  const submit = async () => {
    if (isSending) return;
    setRefused([]);
    const rest = await performBatch(
      items,
      ({ row, key }) =>
        performOperation(operation, { object: row.key, ifVersion: row.version, reason: reason.trim(), key }, row),
      setDone,
    );
    setDone(undefined);
    const performed = items.length - rest.length;
    if (performed > 0)
      showToast({ tone: "good", text: `${formatQuantity(performed, "workflow")} ${outcomes[operation]}.` });
    if (rest.length === 0) return onClose();
    setRefused(rest);
    setItems(rest.map(({ item }) => item));
  };

  return (
    <Modal title={`${label} ${formatQuantity(items.length, "workflow")}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p>{effect}</p>
        {refused.length === 0 ? <BatchList items={items} /> : <RefusedList refused={refused} />}
        <ReasonField value={reason} onChange={setReason} />
        {batchCommands(
          operation,
          items.map(({ row }) => row),
          reason.trim(),
        ).map((command) => (
          <Command key={command} text={command} label="Copy as CLI" />
        ))}
        <footer class="modal-footer">
          <button type="button" class="button" onClick={onClose}>
            Close
          </button>
          <SubmitButton
            operation={operation}
            {...(refused.length > 0 && { text: "Try again" })}
            sending={isSending && `Sending ${done + 1} of ${items.length}…`}
          />
        </footer>
      </form>
    </Modal>
  );
}

function BatchList({ items }: { readonly items: readonly BatchItem[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is scrolled with the keyboard.
    <ul class="batch-list" tabIndex={0} aria-label="Approvals">
      {items.map(({ row }) => (
        <li key={row.key}>
          <strong>{row.workflow}</strong> on <span class="mono">{row.target}</span> <span class="muted">{row.why}</span>
        </li>
      ))}
    </ul>
  );
}

function RefusedList({ refused }: { readonly refused: readonly RefusedItem[] }) {
  return (
    <div class="notice" data-tone="bad" role="alert">
      <p class="strong">Not answered: {formatQuantity(refused.length, "approval")}</p>
      <ul class="batch-list">
        {refused.map(({ item: { row }, problem }) => (
          <li key={row.key}>
            <strong>{row.workflow}</strong> on <span class="mono">{row.target}</span>: {problem.detail}
            {problem.hint !== undefined && <span class="muted"> {problem.hint}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
