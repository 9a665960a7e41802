import { Environment } from "@marcbachmann/cel-js";
import { linearPattern } from "../../kube/index.ts";

/** A compiled CEL expression of a mapping. */
export interface Expression {
  readonly text: string;
  /** Never throws: whether an evaluation fails depends on the payload, so a failure is a value. */
  evaluate(variables: Variables): Evaluation;
}

export interface Variables {
  /** The whole request body. */
  readonly body: unknown;
  /** The part of the body that becomes one signal. */
  readonly item: unknown;
  /** The labels that the mapping has given this signal. */
  readonly labels: Readonly<Record<string, string>>;
}

type Evaluation =
  | { readonly kind: "value"; readonly value: unknown }
  /** `absent`: a field that the expression reads is not in the payload. */
  | { readonly kind: "failed"; readonly isAbsent: boolean; readonly problem: string };

/** Compiles `text`. Throws SyntaxError with one line for an expression that cannot be used. */
export function compileExpression(text: string, { mayIterateBody = false } = {}): Expression {
  if (text.length > maxLength) throw new SyntaxError(`is longer than ${maxLength} characters`);
  const parsed = parse(text);
  const problem = findCostlyPart(parsed.ast, { mayIterateBody });
  if (problem) throw new SyntaxError(problem);
  return {
    text,
    evaluate(variables) {
      try {
        return { kind: "value", value: unwrap(parsed(variables)) };
      } catch (error) {
        const isAbsent = absentCodes.has((error as { readonly code?: string }).code ?? "");
        return { kind: "failed", isAbsent, problem: firstLine(error) };
      }
    },
  };
}

const maxLength = 2_048;
const absentCodes: ReadonlySet<string> = new Set(["no_such_key", "index_out_of_bounds"]);

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 500, maxDepth: 50 },
})
  .registerVariable("body", "dyn")
  .registerVariable("item", "dyn")
  .registerVariable("labels", "map<string, string>")
  .registerFunction("string.extract(string): string", (text: string, pattern: string) => {
    return linearPattern(pattern).capture(text) ?? "";
  })
  .registerFunction("pairs(dyn, string): map<string, string>", toPairs);

function parse(text: string) {
  try {
    const parsed = environment.parse(text);
    const checked = parsed.check();
    if (!checked.valid) throw checked.error ?? new Error("is not valid");
    return parsed;
  } catch (error) {
    throw new SyntaxError(firstLine(error), { cause: error });
  }
}

/** `["env:prod", "team:pay"]` as a map, split at the first separator. An entry without one has an empty value. */
function toPairs(list: unknown, separator: string): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const entry of Array.isArray(list) ? list : []) {
    if (typeof entry !== "string") continue;
    const at = entry.indexOf(separator);
    const key = (at < 0 ? entry : entry.slice(0, at)).trim();
    // The first of several values counts, so later entries do not change the result.
    if (key !== "" && !pairs.has(key)) pairs.set(key, at < 0 ? "" : entry.slice(at + separator.length).trim());
  }
  return Object.fromEntries(pairs);
}

interface AstNode {
  readonly op: string;
  readonly args: unknown;
}

const comprehensions: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);

interface Iteration {
  readonly mayIterateBody: boolean;
  /** The variable of the enclosing comprehension. */
  readonly bound?: string;
}

/**
 * The reason why an expression could take more than linear time in the size of the body. Senders choose the payload, so the
 * cost must not be a product of the lengths of two lists.
 */
function findCostlyPart(node: unknown, iteration: Iteration): string | undefined {
  if (Array.isArray(node)) return firstFound(node, (part) => findCostlyPart(part, iteration));
  if (!isAstNode(node)) return undefined;
  if (node.op !== "rcall") return findCostlyPart(node.args, iteration);

  const [name, receiver, args] = node.args as readonly [string, unknown, readonly unknown[]];
  if (name === "matches") return "uses matches(); use extract(), whose time is linear, as in text.extract('a(b)c')";
  if (name === "bind") return "uses cel.bind(), which is not available";
  if (!comprehensions.has(name)) return findCostlyPart([receiver, ...args], iteration);

  const [variable, ...steps] = args;
  const bound = isAstNode(variable) ? String(variable.args) : "";
  const names = identifiers(receiver);
  if (iteration.bound !== undefined && names.some((one) => one !== iteration.bound)) {
    return `iterates over something other than ${iteration.bound} inside a loop over ${iteration.bound}`;
  }
  if (iteration.bound === undefined && !iteration.mayIterateBody && names.includes("body")) {
    return "iterates over body for each item; iterate over item, or select the entries in items";
  }
  return findCostlyPart(receiver, iteration) ?? findCostlyPart(steps, { ...iteration, bound });
}

function identifiers(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(identifiers);
  if (!isAstNode(node)) return [];
  return node.op === "id" ? [String(node.args)] : identifiers(node.args);
}

function isAstNode(value: unknown): value is AstNode {
  return typeof value === "object" && value !== null && "op" in value;
}

function firstFound<T, R>(list: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface OptionalValue {
  hasValue(): boolean;
  value(): unknown;
}

/** `item.?a` evaluates to an optional. */
function unwrap(value: unknown): unknown {
  const optional = value as Partial<OptionalValue> | undefined | null;
  if (typeof optional !== "object" || typeof optional?.hasValue !== "function") return value;
  return optional.hasValue() ? optional.value?.() : undefined;
}

function firstLine(error: unknown): string {
  return (error as Error).message.split("\n")[0] ?? "";
}
