import type { ParamValue, PipelineSpec, PipelineTask, WhenExpression } from "../pipeline/spec.ts";
import { expand, expandList, expandValue, type VariableValues } from "../pipeline/variables.ts";

export type Params = Readonly<Record<string, ParamValue>>;

/** A value that a task needs and that does not exist. */
export class MissingResult extends Error {
  override readonly name = "MissingResult";
}

/** What variables stand for before a task begins. */
export interface Known {
  readonly params: Params;
  result(task: string, name: string): string | undefined;
  /** `Succeeded`, `Failed` or `None`; of all tasks together without a name. */
  status(task?: string): string;
  context(path: string): string;
  /** The file to which a step writes a result. Absent before the task begins. */
  resultPath?(name: string): string;
}

/** What a task gets: its own parameters with defaults, and those of the pipeline that it has not itself. */
export function taskParams(task: PipelineTask, known: Known): Params {
  const values = toValues(known);
  const given = Object.fromEntries((task.params ?? []).map(({ name, value }) => [name, expandValue(value, values)]));
  return { ...known.params, ...withDefaults(task.taskSpec.params ?? [], { ...known.params, ...given }) };
}

export function isMet({ input, operator, values }: WhenExpression, known: Known): boolean {
  const isIn = expandList(values, toValues(known)).includes(expand(input, toValues(known)));
  return operator === "in" ? isIn : !isIn;
}

/** What each variable stands for. */
export function toValues(known: Known): VariableValues {
  return {
    text(variable) {
      switch (variable.kind) {
        case "param":
          return paramText(known.params, variable.name, variable.index);
        case "result": {
          const { task, name } = variable;
          const value = known.result(task, name);
          if (value === undefined) throw new MissingResult(`the task "${task}" has not written its result "${name}"`);
          return value;
        }
        case "status":
          return known.status(variable.task);
        case "result-path":
          return known.resultPath?.(variable.name) ?? "";
        case "context":
          return known.context(variable.path);
      }
    },
    list: (name) => [known.params[name] ?? []].flat(),
  };
}

function paramText(params: Params, name: string, index?: "*" | number): string {
  const value = params[name] ?? "";
  if (typeof value === "string") return value;
  return index === undefined || index === "*" ? value.join(" ") : (value[index] ?? "");
}

/** The declared parameters: as given, and defaults. What is not declared is left out. */
export function withDefaults(specs: NonNullable<PipelineSpec["params"]>, given: Params): Params {
  return Object.fromEntries(
    specs.flatMap(({ name, default: standard }) => {
      const value = given[name] ?? standard;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
