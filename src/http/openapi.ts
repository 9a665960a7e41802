/** Parts of OpenAPI documents that servers have in common. */

/** Operations by path and method. */
type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** A description of a server for programs. */
export function openApi(info: {
  readonly title: string;
  readonly description: string;
  readonly paths: Paths;
  readonly securitySchemes: object;
  readonly schemas: object;
}): object {
  const { title, description, paths, securitySchemes, schemas } = info;
  return {
    openapi: "3.1.0",
    info: { title, version: "1", description },
    paths: Object.fromEntries(Object.entries(paths).map(nameOperations)),
    components: { securitySchemes, schemas: { ...schemas, Problem: problem } },
  };
}

/** Adds the names of the functions in a generated client, such as `getIncidentsNamespaceName`. */
function nameOperations([path, operations]: [string, Paths[string]]): readonly [string, object] {
  const words = path.replace("/api/v1/", "").split(/\W+/);
  const suffix = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  const named = Object.entries(operations).map(([method, operation]) => [
    method,
    { operationId: `${method}${suffix}`, ...operation },
  ]);
  return [path, Object.fromEntries(named)];
}

const text = { type: "string" };

const problem = {
  type: "object",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: text,
    title: text,
    status: { type: "integer" },
    detail: text,
    hint: { ...text, description: "What to do." },
    problems: { type: "array", items: text },
    current: { type: "object", description: "For 409: the object as it is now." },
  },
};

/** A response with a body of the named schema. */
export function contentResponse(description: string, schema: string): object {
  return {
    description,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

/** An error response. */
export function problemResponse(description: string): object {
  return { description, content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } } };
}

/** An operation without parameters that always succeeds. */
export function plainOperation(summary: string): object {
  return { summary, responses: { 200: { description: summary } } };
}
