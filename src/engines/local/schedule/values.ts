import type { ParamValue, PipelineSpec, PipelineTask, WhenExpression } from "../pipeline/spec.ts";
import { expand, expandList, expandValue, type VariableValues } from "../pipeline/variables.ts";

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
  const values = toValues(source);
  const given = Object.fromEntries((task.params ?? []).map(({ name, value }) => [name, expandValue(value, values)]));
  return { ...source.params, ...withDefaults(task.taskSpec.params ?? [], { ...source.params, ...given }) };
}

export function isMet({ input, operator, values }: WhenExpression, source: ValueSource): boolean {
  const isIn = expandList(values, toValues(source)).includes(expand(input, toValues(source)));
  return operator === "in" ? isIn : !isIn;
}

export function toValues(source: ValueSource): VariableValues {
  return {
    text(variable) {
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
    },
    list: (name) => [source.params[name] ?? []].flat(),
  };
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
