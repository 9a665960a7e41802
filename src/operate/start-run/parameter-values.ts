import type { ParameterValue, RemediationWorkflow } from "../../resources/index.ts";

/** Parameters are written as text; the types that the workflow declares define their values. */
export function toParameterValues(
  given: Readonly<Record<string, string>>,
  { spec }: RemediationWorkflow,
): Readonly<Record<string, ParameterValue>> {
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, toValue(text, spec.parameters?.properties[name]?.type)]),
  );
}

function toValue(text: string, type: string | undefined): ParameterValue {
  if (type === "array") return text === "" ? [] : text.split(",");
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  if ((type === "integer" || type === "number") && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  return text;
}
