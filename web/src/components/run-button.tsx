import { useId, useState } from "preact/hooks";
import type { WorkflowParameter } from "../../../src/console/wire.ts";
import { isStale } from "../live/live.ts";
import {
  type CatalogWorkflow,
  initialValues,
  parameterHint,
  type RunValues,
  runRequest,
  withoutSecrets,
} from "../run-form.ts";
import { mayPerform } from "../session.ts";
import { OperationDialog } from "./operation-dialog.tsx";

/** Runs a workflow, with a form for its target and its parameters. */
export function RunButton({ workflow }: { readonly workflow: CatalogWorkflow }) {
  const [values, setValues] = useState(() => initialValues(workflow));
  const [isOpen, setOpen] = useState(false);
  if (!mayPerform("run")) return null;
  const request = runRequest(workflow, values);
  return (
    <>
      <button type="button" class="button small" disabled={isStale.value} onClick={() => setOpen(true)}>
        Run…
      </button>
      {isOpen && (
        <OperationDialog
          operation="run"
          subject={workflow.id}
          request={request}
          shownRequest={withoutSecrets(workflow, request)}
          form={<RunFields workflow={workflow} values={values} onChange={setValues} />}
          onDone={() => setValues(initialValues(workflow))}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface RunFieldsProps {
  readonly workflow: CatalogWorkflow;
  readonly values: RunValues;
  readonly onChange: (values: RunValues) => void;
}

function RunFields({ workflow, values, onChange }: RunFieldsProps) {
  const { targetKinds, parameters, needsApproval } = workflow;
  return (
    <>
      {needsApproval && <p class="muted">This workflow needs an approval: it is requested first.</p>}
      <label class="field">
        <span>Target</span>
        <input
          // biome-ignore lint/a11y/noAutofocus: the dialog was opened to fill in this field.
          autoFocus
          required
          spellcheck={false}
          autocomplete="off"
          placeholder={targetExample(targetKinds)}
          value={values.target}
          onInput={({ currentTarget }) => onChange({ ...values, target: currentTarget.value })}
        />
      </label>
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={values.parameters[parameter.name] ?? ""}
          onChange={(value) => onChange({ ...values, parameters: { ...values.parameters, [parameter.name]: value } })}
        />
      ))}
    </>
  );
}

function targetExample(targetKinds: readonly string[] | undefined): string {
  const [kind] = targetKinds ?? [];
  if (kind === undefined) return "node/worker-1 or payment/deployment/api";
  return kind === "node" ? "node/worker-1" : `payment/${kind}/NAME`;
}

interface ParameterFieldProps {
  readonly parameter: WorkflowParameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ParameterField({ parameter, value, onChange }: ParameterFieldProps) {
  const id = useId();
  const { name, description, required } = parameter;
  const rules = parameterHint(parameter);
  const hint = description === undefined ? rules : `${description}${rules && ` (${rules})`}`;
  return (
    <div class="field">
      <label for={id}>
        {name}
        {!required && <span class="field-note"> optional</span>}
      </label>
      <ParameterInput id={id} parameter={parameter} value={value} onChange={onChange} />
      {hint !== "" && (
        <small id={`${id}-hint`} class="muted">
          {hint}
        </small>
      )}
    </div>
  );
}

function ParameterInput({ id, parameter, value, onChange }: ParameterFieldProps & { readonly id: string }) {
  const { type, required, isSecret, default: defaultValue } = parameter;
  // A default makes a value unnecessary.
  const common = { id, required: required && defaultValue === undefined, value, "aria-describedby": `${id}-hint` };
  const options = type === "boolean" ? ["true", "false"] : parameter.options;
  if (options)
    return (
      <select {...common} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">–</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  const text = {
    ...common,
    spellcheck: false,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => onChange(currentTarget.value),
  };
  if (isSecret) return <input {...text} type="password" autocomplete="new-password" />;
  return <input {...text} {...numberFormats[type]} autocomplete="off" />;
}

const numberFormats: Readonly<
  Record<string, { readonly inputMode: "numeric" | "decimal"; readonly pattern: string; readonly title: string }>
> = {
  integer: { inputMode: "numeric", pattern: "-?\\d+", title: "A whole number" },
  number: { inputMode: "decimal", pattern: "-?\\d+(\\.\\d+)?", title: "A number" },
};
