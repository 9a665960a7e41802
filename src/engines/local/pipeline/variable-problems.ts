import type { ParamSpec } from "./spec.ts";
import type { Mention, Variable } from "./variables.ts";

/** Reports a problem of a pipeline and the path of its field. */
export type ReportProblem = (path: string, problem: string) => void;

interface ParamPlace {
  readonly params: readonly ParamSpec[];
  /** Whether the whole list can be used here. */
  readonly list: boolean;
}

/** Checks that a parameter exists and is used according to its type. */
export function paramProblems(
  { name, index }: Variable & { kind: "param" },
  path: string,
  { params, list }: ParamPlace,
  report: ReportProblem,
): void {
  const spec = params.find((param) => param.name === name);
  if (!spec) return report(path, `there is no param ${JSON.stringify(name)}`);
  if (spec.type !== "array" && index !== undefined) report(path, `the param ${JSON.stringify(name)} is not a list`);
  if (spec.type === "array" && index === undefined) {
    report(path, `the param ${JSON.stringify(name)} is a list: write $(params.${name}[0]) or $(params.${name}[*])`);
  }
  if (spec.type === "array" && index === "*" && !list) {
    report(path, `$(params.${name}[*]) must be a whole element of a list`);
  }
}

/** Reports a variable that does not exist, or cannot be used here. */
export function reportMisplaced({ text, variable }: Mention, path: string, report: ReportProblem): void {
  report(path, variable ? `${text} cannot be used here` : `${text} is not a variable of the local engine`);
}
