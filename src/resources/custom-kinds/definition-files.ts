import { parseAllDocuments } from "yaml";
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  isJsonObject,
  type JsonObject,
  maxYamlDepth,
  yamlDepth,
} from "../../kube/index.ts";
import { maxAliases, type TextFile } from "../yaml-file.ts";

type DefinitionsReading =
  | { readonly kind: "valid"; readonly definitions: readonly Pick<CustomResourceDefinition, "spec">[] }
  /** `file: problem`, all of them. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Definitions are large because of their schemas, and one file often has all those of a project. */
const maxLength = 32 * 1_024 * 1_024;

/** The custom resource definitions in a file of one or more documents, objects or lists. Other objects are left out. */
export function readDefinitions({ path, text }: TextFile): DefinitionsReading {
  if (text.length > maxLength) return invalid(`${path}: is larger than ${maxLength} characters; split the file`);
  if (yamlDepth(text) > maxYamlDepth) return invalid(`${path}: is nested too deeply`);
  const objects: unknown[] = [];
  for (const document of parseAllDocuments(text, { prettyErrors: false, uniqueKeys: false })) {
    const [fault] = document.errors;
    if (fault) return invalid(`${path}: is not valid YAML (${fault.code})`);
    objects.push(...listItems(document.toJS({ maxAliasCount: maxAliases })));
  }
  const found = objects.filter(isDefinition);
  const problems = found.flatMap((object) => findDefinitionProblem(object) ?? []);
  if (problems.length > 0) return { kind: "invalid", problems: problems.map((problem) => `${path}: ${problem}`) };
  return { kind: "valid", definitions: found as unknown as readonly CustomResourceDefinition[] };
}

function invalid(problem: string): DefinitionsReading {
  return { kind: "invalid", problems: [problem] };
}

function listItems(object: unknown): readonly unknown[] {
  return isJsonObject(object) && Array.isArray(object["items"]) ? object["items"] : [object];
}

function isDefinition(object: unknown): object is JsonObject {
  return isJsonObject(object) && object["kind"] === customResourceDefinitions.kind;
}

/** The first problem of a definition's names, scope and versions. The API server checks the schemas. */
function findDefinitionProblem({ apiVersion, metadata, spec }: JsonObject): string | undefined {
  const name = isJsonObject(metadata) ? String(metadata["name"]) : "without a name";
  const what = `the CustomResourceDefinition ${name}`;
  if (apiVersion !== customResourceDefinitions.apiVersion) {
    return `${what} has the apiVersion ${String(apiVersion)}, not ${customResourceDefinitions.apiVersion}`;
  }
  const { group, scope, names, versions } = isJsonObject(spec) ? spec : {};
  const { kind, plural, singular, shortNames = [] } = isJsonObject(names) ? names : {};
  if (![group, kind, plural].every(isText)) return `${what} has no spec.group, spec.names.kind or spec.names.plural`;
  if (scope !== "Namespaced" && scope !== "Cluster") return `${what} has no spec.scope that is Namespaced or Cluster`;
  const isNamed = singular === undefined || isText(singular);
  if (!isNamed || !Array.isArray(shortNames) || !shortNames.every(isText)) return `${what} has names that are not text`;
  return Array.isArray(versions) && versions.every(isJsonObject) ? undefined : `${what} has no spec.versions`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
