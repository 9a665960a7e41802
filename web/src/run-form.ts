import type { Catalog, OperationRequest, WorkflowParameter } from "../../src/console/wire.ts";

export type CatalogWorkflow = Catalog["workflows"][number];

/** The inputs to run a workflow: texts in the syntax of the command line. */
export interface RunValues {
  readonly target: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Every parameter with its default. The default of a secret is not shown. */
export function initialValues({ parameters }: CatalogWorkflow): RunValues {
  return {
    target: "",
    parameters: Object.fromEntries(
      parameters.map(({ name, default: value = "", isSecret }) => [name, isSecret ? "" : value]),
    ),
  };
}

/** The request for these values. Parameters that are empty or unchanged are left to the workflow. */
export function runRequest(workflow: CatalogWorkflow, { target, parameters }: RunValues): Partial<OperationRequest> {
  const given = workflow.parameters.flatMap(({ name, default: value = "" }) => {
    const text = parameters[name] ?? "";
    return text === "" || text === value ? [] : [[name, text] as const];
  });
  return {
    workflow: workflow.id,
    ...(target.trim() !== "" && { target: target.trim() }),
    ...(given.length > 0 && { parameters: Object.fromEntries(given) }),
  };
}

/** The same request with secrets replaced, to be shown and copied. */
export function withoutSecrets(
  workflow: CatalogWorkflow,
  request: Partial<OperationRequest>,
): Partial<OperationRequest> {
  const secrets = new Set(workflow.parameters.flatMap(({ name, isSecret }) => (isSecret ? name : [])));
  const entries = Object.entries(request.parameters ?? {});
  if (!entries.some(([name]) => secrets.has(name))) return request;
  const shown = entries.map(([name, value]) => [name, secrets.has(name) ? "SECRET" : value]);
  return { ...request, parameters: Object.fromEntries(shown) };
}

/** The rules for a value, in addition to its description. */
export function parameterHint({ type, pattern, default: value, isSecret }: WorkflowParameter): string {
  return [
    type === "array" && "several values, separated by commas",
    pattern !== undefined && `must match ${pattern}`,
    value !== undefined && !isSecret && `default ${value}`,
    isSecret && "secret",
  ]
    .filter((part) => typeof part === "string")
    .join("; ");
}
