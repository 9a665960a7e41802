/** A variable that `$(…)` in a pipeline refers to. */
export type Variable =
  | { readonly kind: "param"; readonly name: string; readonly index?: "*" | number }
  | { readonly kind: "result"; readonly task: string; readonly name: string }
  | { readonly kind: "status"; readonly task?: string }
  | { readonly kind: "result-path"; readonly name: string }
  | { readonly kind: "context"; readonly path: string };

/** A `$(…)` in a text. One that Tekton does not replace, such as `$(date)` in a script, is not a mention. */
export interface Mention {
  readonly text: string;
  /** Undefined if the local engine does not support this variable of Tekton. */
  readonly variable: Variable | undefined;
}

const mention = /\$\(((?:params|tasks|results|context|workspaces|steps|finally|artifacts|inputs|outputs)[.[][^()]*)\)/g;

/** Finds the variables in `text`, in order. */
export function findMentions(text: string): readonly Mention[] {
  return [...text.matchAll(mention)].map(([all, inner = ""]) => ({ text: all, variable: parseVariable(inner) }));
}

/** Replaces every variable in `text`. Variables in the replacements are not replaced. */
export function replaceVariables(text: string, replace: (variable: Variable) => string): string {
  return text.replace(mention, (all, inner: string) => {
    const variable = parseVariable(inner);
    return variable ? replace(variable) : all;
  });
}

/** Returns the name of the parameter if `text` is exactly `$(params.name[*])`. */
export function wholeList(text: string): string | undefined {
  const [first, ...others] = findMentions(text);
  if (!first || others.length > 0 || first.text !== text) return undefined;
  return first.variable?.kind === "param" && first.variable.index === "*" ? first.variable.name : undefined;
}

const key = String.raw`(?:\.([\w-]+)|\["([^"\]]+)"\]|\['([^'\]]+)'\])`;
const paramPattern = new RegExp(String.raw`^params${key}(?:\[(\*|\d+)\])?$`);
const resultPattern = new RegExp(String.raw`^tasks\.([\w-]+)\.results${key}$`);
const pathPattern = new RegExp(String.raw`^results${key}\.path$`);
const statusPattern = /^tasks\.(?:([\w-]+)\.)?status$/;

/** The supported names of the run, its task and its pipeline. They consist only of letters, digits, `-` and `.`. */
const contextPaths: readonly string[] = [
  "pipelineRun.name",
  "pipelineRun.namespace",
  "pipelineRun.uid",
  "pipeline.name",
  "taskRun.name",
  "taskRun.namespace",
  "task.name",
  "task.retry-count",
];

function parseVariable(inner: string): Variable | undefined {
  const param = paramPattern.exec(inner);
  if (param) {
    const [, plain, double, single, index] = param;
    const name = plain ?? double ?? single ?? "";
    if (index === undefined) return { kind: "param", name };
    return { kind: "param", name, index: index === "*" ? "*" : Number(index) };
  }
  const result = resultPattern.exec(inner);
  if (result) return { kind: "result", task: result[1] ?? "", name: result[2] ?? result[3] ?? result[4] ?? "" };

  const path = pathPattern.exec(inner);
  if (path) return { kind: "result-path", name: path[1] ?? path[2] ?? path[3] ?? "" };

  const status = statusPattern.exec(inner);
  if (status) return { kind: "status", ...(status[1] !== undefined && { task: status[1] }) };

  const context = inner.slice("context.".length);
  return inner.startsWith("context.") && contextPaths.includes(context)
    ? { kind: "context", path: context }
    : undefined;
}
