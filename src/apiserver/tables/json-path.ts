import { isRecord } from "../json/json.ts";

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly at: number }
  | { readonly kind: "every" }
  | { readonly kind: "where"; readonly path: readonly Step[]; readonly equals: unknown };

/** All values at a path like `.status.conditions[?(@.type=="Ready")].reason`. Throws SyntaxError for other syntax. */
export function jsonPath(text: string): (value: unknown) => unknown[] {
  const steps = parsePath(text.replace(/^\{(.*)\}$/s, "$1").replace(/^\$/, ""));
  return (value) => walk(value, steps);
}

const stepAt =
  /\.?\[\?\(\s*@(?<filter>[^=)]*?)\s*==\s*(?<value>"[^"]*"|'[^']*'|[-\w.]+)\s*\)\]|\[(?<index>-?\d+)\]|\.?\[\*\]|\.\*|\.?\[(?:'(?<quoted>[^']*)'|"(?<double>[^"]*)")\]|\.(?<name>(?:\\.|[^.[\]\\])+)/y;

function parsePath(text: string): Step[] {
  const steps: Step[] = [];
  for (stepAt.lastIndex = 0; stepAt.lastIndex < text.length; ) {
    const at = stepAt.lastIndex;
    const match = stepAt.exec(text);
    if (!match) throw new SyntaxError(`unrecognized path at ${JSON.stringify(text.slice(at))}`);
    const after = stepAt.lastIndex;
    steps.push(parseStep(match.groups ?? {}));
    // Reading a filter reads another path with the same expression.
    stepAt.lastIndex = after;
  }
  return steps;
}

function parseStep({ filter, value, index, quoted, double, name }: Readonly<Record<string, string | undefined>>): Step {
  if (filter !== undefined) return { kind: "where", path: parsePath(filter), equals: literal(value ?? "") };
  if (index !== undefined) return { kind: "index", at: Number(index) };
  const field = quoted ?? double ?? name?.replace(/\\(.)/g, "$1");
  return field === undefined ? { kind: "every" } : { kind: "field", name: field };
}

function literal(text: string): unknown {
  if (/^["']/.test(text)) return text.slice(1, -1);
  return text === "true" ? true : text === "false" ? false : Number(text);
}

function walk(value: unknown, steps: readonly Step[]): unknown[] {
  let found: unknown[] = [value];
  for (const step of steps) found = found.flatMap((one) => children(one, step));
  return found.filter((one) => one !== undefined);
}

function children(value: unknown, step: Step): unknown[] {
  switch (step.kind) {
    case "field":
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "index":
      return Array.isArray(value) ? [value.at(step.at)] : [];
    case "every":
      return Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
    case "where":
      return Array.isArray(value) ? value.filter((item) => walk(item, step.path)[0] === step.equals) : [];
  }
}
