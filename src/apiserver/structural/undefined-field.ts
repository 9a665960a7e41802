import { TypeError as CelTypeError, Environment } from "@marcbachmann/cel-js";
import type { StructuralSchema } from "../../kube/index.ts";

/**
 * The field that a rule reads and `schema` does not have; undefined if there is none. Of all errors that a typed compiler could
 * find it is the most common one, and the only one that is reported reliably here.
 */
export function undefinedField(rule: string, schema: StructuralSchema): { name: string; column: number } | undefined {
  const types = new TypeNames();
  const type = types.declare(schema);
  types.environment.registerVariable("self", type).registerVariable("oldSelf", type);
  const { valid, error } = types.environment.parse(rule).check();
  if (valid || !(error instanceof CelTypeError) || error.code !== "no_such_key") return undefined;

  const [, name = ""] = /No such key: (\S+)/.exec(error.message) ?? [];
  const at = rule.search(new RegExp(`\\.\\s*${name.replace(/\W/g, "\\$&")}\\b`));
  return { name, column: Math.max(at, 0) + 1 };
}

/** Names for the types of one schema, declared in an environment of their own. */
class TypeNames {
  readonly environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true });
  #count = 0;

  declare(schema: StructuralSchema | undefined): string {
    if (!schema || schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"]) return "dyn";
    switch (schema.type) {
      case "integer":
        return "int";
      case "number":
        return "double";
      case "boolean":
        return "bool";
      case "string":
        return schema.format === "date-time" ? "google.protobuf.Timestamp" : "string";
      case "array":
        return `list<${this.declare(schema.items)}>`;
      case "object":
        return this.#objectName(schema);
      default:
        return "dyn";
    }
  }

  #objectName({ properties, additionalProperties }: StructuralSchema): string {
    if (!properties)
      return typeof additionalProperties === "object" ? `map<string, ${this.declare(additionalProperties)}>` : "dyn";
    const fields = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, this.declare(field)]));
    const name = `Object${++this.#count}`;
    this.environment.registerType(name, { fields });
    return name;
  }
}
