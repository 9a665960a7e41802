/** A Tekton pipeline as far as the local engine runs it, in Tekton's own shape, with every task written out in place. */
export interface PipelineSpec {
  readonly description?: string;
  readonly params?: readonly ParamSpec[];
  readonly tasks: readonly PipelineTask[];
  readonly finally?: readonly PipelineTask[];
  readonly results?: readonly { readonly name: string; readonly value: string; readonly description?: string }[];
}

export interface ParamSpec {
  readonly name: string;
  readonly type?: "string" | "array";
  readonly default?: ParamValue;
  readonly description?: string;
  readonly enum?: readonly string[];
}

export type ParamValue = string | readonly string[];

export interface PipelineTask {
  readonly name: string;
  readonly taskSpec: TaskSpec;
  readonly params?: readonly { readonly name: string; readonly value: ParamValue }[];
  readonly runAfter?: readonly string[];
  readonly when?: readonly WhenExpression[];
  readonly retries?: number;
  readonly timeout?: string;
}

export interface WhenExpression {
  readonly input: string;
  readonly operator: "in" | "notin";
  readonly values: readonly string[];
}

export interface TaskSpec {
  readonly description?: string;
  readonly params?: readonly ParamSpec[];
  readonly results?: readonly { readonly name: string; readonly type?: "string"; readonly description?: string }[];
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name?: string;
  readonly script?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly workingDir?: string;
  readonly onError?: "continue" | "stopAndFail";
}

/** Every task of a pipeline, those of `finally` last. */
export function allTasks({ tasks, finally: last = [] }: PipelineSpec): readonly PipelineTask[] {
  return [...tasks, ...last];
}

/** As Tekton calls a step that has no name. */
export function stepName({ name }: Step, index: number): string {
  return name ?? `unnamed-${index}`;
}
