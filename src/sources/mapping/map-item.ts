import type { FieldTrace } from "../../resources/index.ts";
import type { Expression, Variables } from "./expression.ts";
import type { Alternatives, MappedField, MappedTexts, Mapping } from "./mapping.ts";

/** An item as the mapping reads it. */
export interface MappedItem {
  /** False: `when` is false for this item. */
  readonly isSelected: boolean;
  readonly values: ReadonlyMap<MappedField, unknown>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Sentences that begin with the field. */
  readonly problems: readonly string[];
  readonly trace: readonly FieldTrace[];
}

/** Evaluates all fields of `mapping` for one item. Labels come first: the other fields may refer to them. */
export function mapItem(mapping: Mapping, item: unknown, body: unknown): MappedItem {
  const evaluator = new Evaluator();
  const unlabelled: Variables = { body, item, labels: {} };
  if (mapping.require) evaluator.require(mapping.require, unlabelled);
  const isSelected = !mapping.when || evaluator.condition("when", mapping.when, unlabelled) === true;
  if (!isSelected || evaluator.problems.length > 0)
    return { ...nothing, isSelected, problems: evaluator.problems, trace: evaluator.trace };

  const labels = evaluator.texts("labels", mapping.labels, unlabelled);
  const variables: Variables = { body, item, labels };
  const values = new Map<MappedField, unknown>();
  for (const [field, alternatives] of mapping.fields) {
    const value = evaluator.first(field, alternatives, variables);
    if (value !== undefined) values.set(field, value);
  }
  const annotations = evaluator.texts("annotations", mapping.annotations, variables);
  return { isSelected, values, labels, annotations, problems: evaluator.problems, trace: evaluator.trace };
}

const nothing = { values: new Map(), labels: {}, annotations: {} };

/** Evaluates the expressions of one item and collects their values and problems. */
class Evaluator {
  readonly problems: string[] = [];
  readonly trace: FieldTrace[] = [];

  require(expression: Expression, variables: Variables): void {
    const isMet = this.condition("require", expression, variables);
    if (isMet === false) this.#fail("require", expression.text, "is false, so this is not the format that is expected");
  }

  /** Undefined if it has no value; that is a problem, so an item whose condition fails is not ignored. */
  condition(field: string, expression: Expression, variables: Variables): boolean | undefined {
    const value = this.first(field, { expressions: [expression], mayBeAbsent: false }, variables);
    if (typeof value === "boolean") return value;
    if (this.problems.length === 0) this.#fail(field, expression.text, "is neither true nor false");
    return undefined;
  }

  /** The first value; undefined if there is none. */
  first(field: string, { expressions, mayBeAbsent }: Alternatives, variables: Variables): unknown {
    for (const expression of expressions) {
      const result = expression.evaluate(variables);
      if (result.kind === "failed") {
        if (result.isAbsent && mayBeAbsent) continue;
        return this.#fail(field, expression.text, result.problem);
      }
      if (isEmpty(result.value)) continue;
      this.trace.push({ field, from: expression.text, value: show(result.value) });
      return result.value;
    }
    this.trace.push({ field, from: joinTexts(expressions) });
    return undefined;
  }

  texts(field: string, mapped: MappedTexts, variables: Variables): Readonly<Record<string, string>> {
    const texts = new Map<string, string>();
    const put = (name: string, value: unknown, from: string) => {
      const text = toText(value);
      if (text !== undefined) texts.set(name, text);
      else this.#fail(`${field}.${name}`, from, "is not text, a number or a boolean");
    };
    if (mapped.kind === "each") {
      for (const [name, alternatives] of mapped.texts) {
        const value = this.first(`${field}.${name}`, alternatives, variables);
        if (value !== undefined) put(name, value, joinTexts(alternatives.expressions));
      }
      return Object.fromEntries(texts);
    }
    const all = this.first(field, mapped.expression, variables);
    if (all === undefined) return {};
    const from = joinTexts(mapped.expression.expressions);
    if (typeof all !== "object" || all === null || Array.isArray(all)) {
      this.#fail(field, from, "is not a map of texts");
      return {};
    }
    // Values that are no texts are left out: the sender chooses the names, and an alert matters more than one of them.
    for (const [name, value] of Object.entries(all)) if (toText(value) !== undefined) put(name, value, from);
    return Object.fromEntries(texts);
  }

  #fail(field: string, from: string, problem: string): undefined {
    this.problems.push(`${field}: ${from}: ${problem}`);
    this.trace.push({ field, from, problem });
    return undefined;
  }
}

function joinTexts(expressions: readonly Expression[]): string {
  return expressions.map(({ text }) => text).join(" | ");
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** A scalar as text; undefined for anything else. */
export function toText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      return value instanceof Date ? value.toISOString() : undefined;
  }
}

const maxShown = 200;

function show(value: unknown): string {
  const text = toText(value) ?? JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`;
}
