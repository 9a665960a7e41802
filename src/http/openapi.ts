/** Parts of OpenAPI documents that servers have in common. */

/** A description of a server for programs. */
export function openApi(info: {
  readonly title: string;
  readonly description: string;
  readonly paths: object;
  readonly securitySchemes: object;
  readonly schemas: object;
}): object {
  const { title, description, paths, securitySchemes, schemas } = info;
  return {
    openapi: "3.1.0",
    info: { title, version: "1", description },
    paths,
    components: { securitySchemes, schemas: { ...schemas, Problem: problem } },
  };
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
