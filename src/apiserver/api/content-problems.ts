import type { KubeObject } from "../../kube/index.ts";
import type { Entry } from "../object-store.ts";
import { ruleProblems } from "../structural/rules.ts";
import { schemaProblems } from "../structural/validate.ts";
import { type FieldProblem, invalidValue } from "./problem.ts";
import type { Resource } from "./resource.ts";

/** The problems of an object apart from its metadata, given the entry that it replaces. */
export function contentProblems(resource: Resource, object: KubeObject, replaced: Entry | undefined): FieldProblem[] {
  const old = replaced?.object;
  const own = resource.problems?.(object, old) ?? [];
  const { compiled, schema } = resource;
  if (!compiled) return own;

  const { metadata: _, ...content } = object;
  const trustsFrozen = replaced !== undefined && resource.isCurrent(replaced);
  const problems = [...own, ...schemaProblems(content, schema, { trustsFrozen })];
  if (!resource.hasRules) return problems;
  if (problems.length > 0) return [...problems, rulesNotRun()];
  return ruleProblems(compiled, { schema, value: content, old });
}

function rulesNotRun(): FieldProblem {
  const why = "some validation rules were not checked because the object was invalid";
  return invalidValue("<nil>", "null", `${why}; correct the existing errors to complete validation`);
}
