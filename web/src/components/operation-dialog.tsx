import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { OperationName, OperationRequest, ProblemDocument, Row } from "../../../src/console/wire.ts";
import { ApiError, objectPath } from "../api.ts";
import { submitWithEnter } from "../keys.ts";
import { durationPattern } from "../live/filter.ts";
import { isStale } from "../live/live.ts";
import {
  commandLine,
  newKey,
  type OperationField,
  operationTexts,
  parseScope,
  performOperation,
  rowChanges,
} from "../operations.ts";
import { Command } from "./empty-state.tsx";
import { Modal } from "./modal.tsx";
import { ProblemNotice } from "./problem-notice.tsx";
import { showToast } from "./toasts.tsx";

/** An operation and its object. */
export interface OperationSubject {
  readonly operation: OperationName;
  /** The object in the title of the dialog: "node-drain on node/worker-1". */
  readonly subject: string;
  /** The row that the caller sees: the server refuses the operation if it has changed meanwhile. */
  readonly row?: Row | undefined;
  /** The part of the request that the caller does not fill in. By default the object of `row`. */
  readonly request?: Partial<OperationRequest>;
  /** The same part as the command line shows it, if `request` has secrets. */
  readonly shownRequest?: Partial<OperationRequest>;
  /** Facts to decide by, or fields whose values are in `request`. */
  readonly form?: ComponentChildren;
  readonly onDone?: () => void;
}

interface OperationDialogProps extends OperationSubject {
  readonly onClose: () => void;
}

interface Filled {
  readonly reason: string;
  readonly for: string;
  readonly block: boolean;
  readonly scope: string;
}

const empty: Filled = { reason: "", for: "", block: false, scope: "" };

/** A form for the reason and the other inputs of an operation, with the same operation as a command line. */
export function OperationDialog(props: OperationDialogProps) {
  const { operation, subject, row, request, shownRequest, form, onClose, onDone } = props;
  const { label, effect, fields: all } = operationTexts[operation];
  const fields = all.filter((field) => field !== "scope" || request?.scope === undefined);
  const [filled, setFilled] = useState(empty);
  const [seen, setSeen] = useSeenRow(row);
  const [problem, setProblem] = useState<ProblemDocument>();
  const [isSending, setSending] = useState(false);
  // One key for one dialog: a second click, or a second attempt after a lost response, has no second effect.
  const [key] = useState(() => newKey((bytes) => crypto.getRandomValues(bytes)));

  const base: Omit<OperationRequest, "key"> = {
    ...(seen && { object: seen.key, ifVersion: seen.version }),
    ...request,
    ...chosen(filled, fields),
    reason: filled.reason.trim(),
  };

  const submit = async () => {
    if (isSending) return;
    setSending(true);
    setProblem(undefined);
    try {
      const { message, notes = [], kind, object } = await performOperation(operation, { ...base, key }, seen);
      const path =
        object !== undefined && (kind === "incidents" || kind === "executions") ? objectPath(kind, object) : undefined;
      showToast({ tone: "good", text: message, notes, path });
      onDone?.();
      onClose();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.problem);
      setSending(false);
    }
  };
  const change = (part: Partial<Filled>) => setFilled({ ...filled, ...part });
  const current = problem?.status === 409 ? problem.current : undefined;

  return (
    <Modal title={`${label} ${subject}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p>{effect}</p>
        {form}
        {fields.map((field) => (
          <Field key={field} field={field} filled={filled} onChange={change} />
        ))}
        <Command text={commandLine(operation, { ...base, ...shownRequest })} label="Copy as CLI" />
        {problem && <Refusal problem={problem} before={seen} />}
        <footer class="modal-footer">
          <button type="button" class="button" onClick={onClose}>
            Close
          </button>
          {current ? (
            <ContinueButton
              onClick={() => {
                setSeen(current);
                setProblem(undefined);
              }}
            />
          ) : (
            <SubmitButton operation={operation} sending={isSending && "Sending…"} />
          )}
        </footer>
      </form>
    </Modal>
  );
}

/** A separate component from the submit button: a click on it must never submit the form. */
function ContinueButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <button type="button" class="button" data-primary onClick={onClick}>
      Continue with the current state
    </button>
  );
}

interface SubmitButtonProps {
  readonly operation: OperationName;
  /** The text, if it is not that of the operation. */
  readonly text?: string;
  /** The text while the operation is sent. */
  readonly sending: string | false;
}

/** The button that performs an operation. It is disabled while the operation is sent, and while the page is stale. */
export function SubmitButton({ operation, text, sending }: SubmitButtonProps) {
  const { label, confirmLabel = label, isDangerous = false } = operationTexts[operation];
  return (
    <button
      type="submit"
      class="button"
      data-primary={!isDangerous || undefined}
      data-danger={isDangerous || undefined}
      disabled={sending !== false || isStale.value}
    >
      {sending || (text ?? confirmLabel)}
    </button>
  );
}

/**
 * The row as the caller saw it when the dialog opened. It follows changes that do not affect the decision, such as another
 * report of the same problem. After any other change the server refuses the operation, and the dialog shows the change.
 */
function useSeenRow(row: Row | undefined) {
  const [seen, setSeen] = useState(row);
  const latest = seen && row && row.key === seen.key && rowChanges(seen, row).length === 0 ? row : seen;
  return [latest, setSeen] as const;
}

/** The fields of the request that the operation has and the caller has filled in. */
function chosen(filled: Filled, fields: readonly OperationField[]): Partial<OperationRequest> {
  return {
    ...(fields.includes("scope") && { scope: parseScope(filled.scope) }),
    ...(fields.includes("for") && filled.for.trim() !== "" && { for: filled.for.trim() }),
    ...(fields.includes("block") && filled.block && { block: true }),
  };
}

interface FieldProps {
  readonly field: OperationField;
  readonly filled: Filled;
  readonly onChange: (part: Partial<Filled>) => void;
}

function Field({ field, filled, onChange }: FieldProps) {
  switch (field) {
    case "reason":
      return <ReasonField value={filled.reason} onChange={(reason) => onChange({ reason })} />;
    case "for":
      return (
        <label class="field">
          <span>For</span>
          <input
            pattern={durationPattern}
            title="A duration such as 30m or 2h"
            placeholder="2h; empty: until it is resumed"
            value={filled.for}
            onInput={({ currentTarget }) => onChange({ for: currentTarget.value })}
          />
        </label>
      );
    case "scope":
      return (
        <label class="field">
          <span>Scope</span>
          <input
            // biome-ignore lint/a11y/noAutofocus: the first field of the dialog.
            autoFocus
            required
            pattern="\s*(all|(namespace|target|workflow)\s+\S+)\s*"
            title="all, namespace NS, target TARGET or workflow WORKFLOW"
            placeholder="all, namespace payment, target node/worker-1, workflow ID"
            value={filled.scope}
            onInput={({ currentTarget }) => onChange({ scope: currentTarget.value })}
          />
        </label>
      );
    case "block":
      return (
        <label class="check">
          <input
            type="checkbox"
            checked={filled.block}
            onChange={({ currentTarget }) => onChange({ block: currentTarget.checked })}
          />
          <span>Block the workflow on this target until the failure is acknowledged</span>
        </label>
      );
  }
}

interface ReasonFieldProps {
  readonly value: string;
  readonly onChange: (reason: string) => void;
}

/** The reason of an operation. Ctrl+Enter submits the form. */
export function ReasonField({ value, onChange }: ReasonFieldProps) {
  return (
    <label class="field">
      <span>Reason</span>
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to fill in this field.
        autoFocus
        rows={2}
        required
        maxLength={500}
        placeholder="Recorded in the ledger"
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={submitWithEnter}
      />
    </label>
  );
}

/** The problem of a refused operation; after a conflict, with the changes of the row since the page showed it. */
function Refusal({ problem, before }: { readonly problem: ProblemDocument; readonly before: Row | undefined }) {
  const changes = before && problem.current ? rowChanges(before, problem.current) : [];
  return (
    <ProblemNotice problem={problem}>
      {changes.length > 0 && (
        <table class="plain">
          <caption>What has changed</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">You saw</th>
              <th scope="col">Now</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ field, before, after }) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                <td>{before || "–"}</td>
                <td>{after || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </ProblemNotice>
  );
}
