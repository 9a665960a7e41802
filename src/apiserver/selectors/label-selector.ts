import { labelKeyProblem, labelValueProblem } from "../api/names.ts";
import { badRequest } from "../api/status-error.ts";

type Labels = Readonly<Record<string, string>>;
export interface LabelSelector {
  (labels: Labels): boolean;
  /** A label that every selected object has with this value. */
  readonly equals?: { readonly key: string; readonly value: string } | undefined;
}

/** A label selector as a predicate; undefined for one that selects everything. Throws 400 for one that cannot be read. */
export function labelSelector(text: string | undefined): LabelSelector | undefined {
  if (!text?.trim()) return undefined;
  const requirements = new SelectorReader(tokens(text)).requirements();
  if (requirements.length === 0) return undefined;
  const equals = requirements.find((requirement) => requirement.equals)?.equals;
  return Object.assign((labels: Labels) => requirements.every((meets) => meets(labels)), { equals });
}

interface Token {
  readonly kind: "identifier" | "symbol" | "end";
  readonly text: string;
}

const end: Token = { kind: "end", text: "" };

function tokens(text: string): Token[] {
  const found = text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
  return found.map((part) => ({ kind: /^[=!<>(),]/.test(part) ? "symbol" : "identifier", text: part }));
}

/** The grammar and the error messages of k8s.io/apimachinery/pkg/labels. */
class SelectorReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(all: readonly Token[]) {
    this.#tokens = all;
  }

  requirements(): LabelSelector[] {
    const all: LabelSelector[] = [];
    for (;;) {
      const next = this.#peek();
      if (next.kind === "end") return all;
      if (next.kind !== "identifier" && next.text !== "!") {
        throw badRequest(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      }
      all.push(this.#requirement());

      const separator = this.#take();
      if (separator.kind === "end") return all;
      if (separator.text !== ",") throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      const after = this.#peek();
      if (after.kind !== "identifier" && after.text !== "!") {
        throw badRequest(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelSelector {
    const absent = this.#peek().text === "!";
    if (absent) this.#take();
    const key = this.#take();
    if (key.kind !== "identifier") throw unreadable(`found '${key.text}', expected: identifier`);
    const problem = labelKeyProblem(key.text);
    if (problem) throw unreadable(`key: Invalid value: ${JSON.stringify(key.text)}: ${problem}`);
    if (absent) return (labels) => !Object.hasOwn(labels, key.text);

    const next = this.#peek();
    if (next.kind === "end" || next.text === ",") return (labels) => Object.hasOwn(labels, key.text);
    return this.#comparison(key.text);
  }

  #comparison(key: string): LabelSelector {
    const operator = this.#take().text;
    switch (operator) {
      case "in":
      case "=":
      case "==":
        return isIn(key, operator === "in" ? this.#values(key) : [this.#value(key)]);
      case "notin":
      case "!=": {
        // Without the label, `!=` and `notin` hold.
        const listed = isIn(key, operator === "notin" ? this.#values(key) : [this.#value(key)]);
        return (labels) => !listed(labels);
      }
      case ">":
      case "<":
        return isBeyond(key, operator, this.#exact());
      default:
        throw unreadable(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #value(key: string): string {
    const value = this.#exact();
    checkValue(key, value, 0);
    return value;
  }

  #exact(): string {
    const next = this.#peek();
    if (next.kind === "end" || next.text === ",") return "";
    const value = this.#take();
    if (value.kind !== "identifier") throw unreadable(`found '${value.text}', expected: identifier`);
    return value.text;
  }

  #values(key: string): string[] {
    const open = this.#take();
    if (open.text !== "(") throw unreadable(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    let wanted = true;
    for (;;) {
      const token = this.#take();
      if (token.kind === "identifier" && wanted) values.push(token.text);
      else if (token.text === "," || token.text === ")") {
        if (wanted) values.push("");
      } else if (wanted) throw unreadable(`found '${token.text}', expected: ',', ')' or identifier`);
      else throw unreadable(`found '${token.text}', expected: ',' or ')'`);
      wanted = token.text === ",";
      if (token.text === ")") break;
    }
    for (const [i, value] of values.entries()) checkValue(key, value, i);
    return values;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? end;
  }

  #take(): Token {
    return this.#tokens[this.#at++] ?? end;
  }
}

function isIn(key: string, values: readonly string[]): LabelSelector {
  const [value, ...others] = values;
  const equals = value !== undefined && others.length === 0 ? { key, value } : undefined;
  return Object.assign((labels: Labels) => Object.hasOwn(labels, key) && values.includes(labels[key] as string), {
    equals,
  });
}

function isBeyond(key: string, operator: "<" | ">", bound: string): LabelSelector {
  if (!/^[+-]?\d+$/.test(bound)) {
    const rule = "for 'Gt', 'Lt' operators, the value must be an integer";
    throw unreadable(`values[0]: Invalid value: ${JSON.stringify(bound)}: ${rule}`);
  }
  return (labels) => {
    const value = labels[key];
    if (value === undefined || !/^[+-]?\d+$/.test(value)) return false;
    return operator === ">" ? Number(value) > Number(bound) : Number(value) < Number(bound);
  };
}

function checkValue(key: string, value: string, at: number) {
  const problem = labelValueProblem(value);
  if (problem) throw unreadable(`values[${at}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
}

function unreadable(why: string) {
  return badRequest(`unable to parse requirement: ${why}`);
}
