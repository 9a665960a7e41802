import { Environment } from "@marcbachmann/cel-js";
import { type LinearPattern, linearPattern } from "../../kube/index.ts";

export type Expression = (context: object) => unknown;

/** The patterns and CEL expressions of one schema, each compiled when it is first needed and kept with the schema. */
export class Compiled {
  readonly #patterns = new Map<string, LinearPattern>();
  readonly #expressions = new Map<string, Expression>();

  pattern(text: string): LinearPattern {
    return once(this.#patterns, text, compilePattern);
  }

  expression(text: string): Expression {
    return once(this.#expressions, text, compileExpression);
  }
}

function once<T>(known: Map<string, T>, text: string, make: (text: string) => T): T {
  let made = known.get(text);
  if (!made) {
    made = make(text);
    known.set(text, made);
  }
  return made;
}

/** A pattern of a schema, in the syntax that the real server reads. Throws SyntaxError for any other. */
export function compilePattern(pattern: string): LinearPattern {
  return linearPattern(pattern);
}

const environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn");

/** A CEL expression over `self` and `oldSelf`. Throws for one that cannot be run. */
export function compileExpression(expression: string): Expression {
  return compileChecked(environment, expression);
}

const admissionEnvironment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
  .registerVariable("object", "dyn")
  .registerVariable("oldObject", "dyn")
  .registerVariable("request", "dyn");

/** A CEL expression over `object`, `oldObject` and `request`. Throws for one that cannot be run. */
export function compileAdmission(expression: string): Expression {
  return compileChecked(admissionEnvironment, expression);
}

function compileChecked(environment: Environment, expression: string): Expression {
  const parsed = environment.parse(expression);
  const { valid, error } = parsed.check();
  if (!valid) throw error ?? new Error("the expression is not valid");
  return parsed;
}
