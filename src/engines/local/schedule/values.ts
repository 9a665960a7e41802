import type { ParamValue, PipelineSpec, PipelineTask, WhenExpression } from "../pipeline/spec.ts";
import { expand, expandList, expandValue, type Variable } from "../pipeline/variables.ts";

export type Params = Readonly<Record<string, ParamValue>>;

/** A value that a task needs and that does not exist. */
export class MissingResult extends Error {
  override readonly name = "MissingResult";
  readonly task: string;
  readonly result: string;

  constructor(task: string, result: string) {
    super(`the task "${task}" has not written its result "${result}"`);
    this.task = task;
    this.result = result;
  }
}

/** What variables stand for before a task begins. */
export interface Known {
  readonly params: Params;
  result(task: string, name: string): string | undefined;
  /** `Succeeded`, `Failed` or `None`; of all tasks together without a name. */
  status(task?: string): string;
  context(path: string): string;
}

/** The parameters of the pipeline: as given, and defaults. What the pipeline does not declare, it does not see. */
export function pipelineParams({ params = [] }: PipelineSpec, given: Params): Params {
  return withDefaults(params, given);
}

/** What a task gets: its own parameters with defaults, and those of the pipeline that it has not itself. */
export function taskParams(task: PipelineTask, known: Known): Params {
  const given = Object.fromEntries(
    (task.params ?? []).map(({ name, value }) => [name, expandValue(value, textOf(known), listOf(known.params))]),
  );
  return { ...known.params, ...withDefaults(task.taskSpec.params ?? [], { ...known.params, ...given }) };
}

export function holds({ input, operator, values }: WhenExpression, known: Known): boolean {
  const isIn = expandList(values, textOf(known), listOf(known.params)).includes(expand(input, textOf(known)));
  return operator === "in" ? isIn : !isIn;
}

/** What each variable stands for. */
export function textOf(known: Known, resultPath?: (name: string) => string): (variable: Variable) => string {
  return (variable) => {
    switch (variable.kind) {
      case "param":
        return paramText(known.params, variable.name, variable.index);
      case "result": {
        const value = known.result(variable.task, variable.name);
        if (value === undefined) throw new MissingResult(variable.task, variable.name);
        return value;
      }
      case "status":
        return known.status(variable.task);
      case "result-path":
        return resultPath?.(variable.name) ?? "";
      case "context":
        return known.context(variable.path);
    }
  };
}

export function listOf(params: Params): (name: string) => readonly string[] {
  return (name) => [params[name] ?? []].flat();
}

function paramText(params: Params, name: string, index?: "*" | number): string {
  const value = params[name] ?? "";
  if (typeof value === "string") return value;
  return index === undefined || index === "*" ? value.join(" ") : (value[index] ?? "");
}

function withDefaults(specs: NonNullable<PipelineSpec["params"]>, given: Params): Params {
  return Object.fromEntries(
    specs.flatMap(({ name, default: standard }) => {
      const value = given[name] ?? standard;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
