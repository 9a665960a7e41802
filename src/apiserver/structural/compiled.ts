import { Environment } from "@marcbachmann/cel-js";

export type Expression = (context: object) => unknown;

/** The CEL expressions of one schema, each compiled when it is first needed and kept with the schema. */
export class Compiled {
  readonly #expressions = new Map<string, Expression>();

  expression(text: string): Expression {
    const known = this.#expressions.get(text);
    if (known) return known;
    const expression = compileExpression(text);
    this.#expressions.set(text, expression);
    return expression;
  }
}

const environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn");

/** Compiles a CEL expression over `self` and `oldSelf`. Throws if it is not valid. */
export function compileExpression(expression: string): Expression {
  return compileChecked(environment, expression);
}

const admissionEnvironment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
  .registerVariable("object", "dyn")
  .registerVariable("oldObject", "dyn")
  .registerVariable("request", "dyn");

/** Compiles a CEL expression over `object`, `oldObject` and `request`. Throws if it is not valid. */
export function compileAdmission(expression: string): Expression {
  return compileChecked(admissionEnvironment, expression);
}

function compileChecked(environment: Environment, expression: string): Expression {
  const parsed = environment.parse(expression);
  const { valid, error } = parsed.check();
  if (!valid) throw error ?? new Error("the expression is not valid");
  return parsed;
}
