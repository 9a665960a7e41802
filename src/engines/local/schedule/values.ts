import type { ParamValue, PipelineSpec, PipelineTask, WhenExpression } from "../pipeline/spec.ts";
import { replaceVariables, type Variable, wholeList } from "../pipeline/variables.ts";

export type Params = Readonly<Record<string, ParamValue>>;

/** A task needs a result that was not written. */
export class MissingResult extends Error {
  override readonly name = "MissingResult";
}

/** The values of variables before a task begins. */
export interface ValueSource {
  readonly params: Params;
  result(task: string, name: string): string | undefined;
  /** `Succeeded`, `Failed` or `None`; without a name, the status of all tasks. */
  status(task?: string): string;
  context(path: string): string;
  /** The file to which a step writes a result. Absent before the task begins. */
  resultPath?(name: string): string;
}

/** Returns the parameters of a task: its own with defaults, and those of the pipeline that it does not declare itself. */
export function taskParams(task: PipelineTask, source: ValueSource): Params {
  const given = Object.fromEntries((task.params ?? []).map(({ name, value }) => [name, expandValue(value, source)]));
  return { ...source.params, ...withDefaults(task.taskSpec.params ?? [], { ...source.params, ...given }) };
}

export function isMet({ input, operator, values }: WhenExpression, source: ValueSource): boolean {
  const isIn = expandList(values, source).includes(expand(input, source));
  return operator === "in" ? isIn : !isIn;
}

/** Replaces every variable in `text` by its value. */
export function expand(text: string, source: ValueSource): string {
  return replaceVariables(text, (variable) => valueText(variable, source));
}

/** Expands the elements of a list. One that is exactly `$(params.x[*])` is replaced by all elements of `x`. */
export function expandList(list: readonly string[], source: ValueSource): string[] {
  return list.flatMap((text) => {
    const param = wholeList(text);
    return param === undefined ? [expand(text, source)] : [source.params[param] ?? []].flat();
  });
}

/** Expands the value of a task's parameter: text or a list. A text that is exactly `$(params.x[*])` becomes a list. */
function expandValue(value: ParamValue, source: ValueSource): ParamValue {
  const isText = typeof value === "string" && wholeList(value) === undefined;
  return isText ? expand(value, source) : expandList([value].flat(), source);
}

function valueText(variable: Variable, source: ValueSource): string {
  switch (variable.kind) {
    case "param":
      return paramText(source.params, variable.name, variable.index);
    case "result": {
      const { task, name } = variable;
      const value = source.result(task, name);
      if (value === undefined) throw new MissingResult(`the task "${task}" has not written its result "${name}"`);
      return value;
    }
    case "status":
      return source.status(variable.task);
    case "result-path":
      return source.resultPath?.(variable.name) ?? "";
    case "context":
      return source.context(variable.path);
  }
}

function paramText(params: Params, name: string, index?: "*" | number): string {
  const value = params[name] ?? "";
  if (typeof value === "string") return value;
  return index === undefined || index === "*" ? value.join(" ") : (value[index] ?? "");
}

/** Returns the declared parameters with their given values or defaults. Parameters that are not declared are omitted. */
export function withDefaults(specs: NonNullable<PipelineSpec["params"]>, given: Params): Params {
  return Object.fromEntries(
    specs.flatMap(({ name, default: standard }) => {
      const value = given[name] ?? standard;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
