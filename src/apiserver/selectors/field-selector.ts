import type { KubeObject } from "../../kube/index.ts";
import type { Resource } from "../api/resource.ts";
import { badRequest } from "../api/status-error.ts";
import { member } from "../json/json.ts";

export interface FieldSelector {
  matches(object: KubeObject): boolean;
  /** The only name that can match, if the selector requires one: the list then reads one object. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

interface Term {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** A field selector as a predicate; undefined for one that selects everything. Throws 400 for an unknown field. */
export function fieldSelector(text: string | undefined, resource: Resource): FieldSelector | undefined {
  if (!text) return undefined;
  const terms = text
    .split(/(?<!\\),/)
    .filter(Boolean)
    .map((part) => term(part, text));
  for (const { field } of terms) if (!resource.selectable.has(field)) throw unknownField(field, resource);

  const only = (field: string) => terms.find((one) => one.field === field && one.equal)?.value;
  return {
    matches: (object) =>
      terms.every(({ field, equal, value }) => (fieldText(object, field, resource) === value) === equal),
    name: only("metadata.name"),
    namespace: only("metadata.namespace"),
  };
}

function term(part: string, whole: string): Term {
  const [, field, operator, value] = /^([^=!]*?)(!=|==|=)(.*)$/s.exec(part) ?? [];
  if (field === undefined || value === undefined) {
    throw badRequest(`invalid selector: '${whole}'; can't understand '${part}'`);
  }
  const unescaped = value.replace(/\\([\\,=])/g, "$1");
  return { field, equal: operator !== "!=", value: unescaped };
}

function unknownField(field: string, { custom, fieldsByConversion, selectable }: Resource) {
  if (custom || fieldsByConversion) return badRequest(`field label not supported: ${field}`);
  const known = [...selectable.keys()].map((name) => JSON.stringify(name)).join(", ");
  return badRequest(`${JSON.stringify(field)} is not a known field selector: only ${known}`);
}

/** The text that a selector compares with: absent fields are empty. */
function fieldText(object: KubeObject, field: string, { selectable }: Resource): string {
  const value = member(object, ...(selectable.get(field) ?? []));
  return value === undefined || value === null ? "" : String(value);
}
