import { contentResponse, openApi, plainOperation, problemResponse } from "../../http/index.ts";
import { z } from "../../schema/index.ts";
import type { ApiRoute } from "./api-route.ts";
import { responseSchemas } from "./schemas.ts";

/** The OpenAPI document of the console, derived from the routes and their schemas. */
export function consoleOpenApi(routes: readonly ApiRoute[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  const schemas = Object.entries(responseSchemas).map(([name, schema]) => [name, jsonSchema(schema, "output")]);
  return openApi({
    title: "Interlock console",
    description: "The state of Interlock, and the operations of users and programs.",
    paths: {
      ...paths,
      "/healthz": { get: plainOperation("The process runs.") },
      "/readyz": { get: plainOperation("The console serves.") },
    },
    securitySchemes: {
      session: { type: "apiKey", in: "cookie", name: "interlock-session", description: "Made by a log-in." },
      token: { type: "http", scheme: "bearer" },
    },
    schemas: Object.fromEntries(schemas),
  });
}

function operation(route: ApiRoute): object {
  const { summary, access, body, params, query } = route;
  return {
    summary,
    ...(access === "open" ? {} : { security: [{ session: [] }, { token: [] }] }),
    parameters: [...parameters(params, "path"), ...parameters(query, "query")],
    ...(body && {
      requestBody: { required: true, content: { "application/json": { schema: jsonSchema(body, "input") } } },
    }),
    responses: responses(route),
  };
}

function parameters(schema: z.ZodObject | undefined, location: "path" | "query"): readonly object[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, "input");
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: location,
    required: location === "path" || required.includes(name),
    schema,
  }));
}

function responses({ access, result, body, query, problems = {} }: ApiRoute): object {
  const refused = Object.entries(problems).map(([status, description]) => [status, problemResponse(description)]);
  return {
    200: successResponse(result),
    ...(body || query ? { 400: problemResponse("The request is not valid; every problem is listed.") } : {}),
    ...(access === "open" ? {} : { 401: problemResponse("Log in, or send a valid token.") }),
    403: problemResponse("The caller may not do this, or a page of another origin made the request."),
    421: problemResponse("The host name of the request is not served."),
    ...Object.fromEntries(refused),
    503: problemResponse(
      "The API server or the ledger does not respond. Send the request again; operations take effect once.",
    ),
  };
}

function successResponse(result: ApiRoute["result"]): object {
  if (result === undefined) return { description: "Done." };
  if (typeof result === "string") return contentResponse(`The body is ${result}.`, result);
  const events = Object.entries(result).map(([event, name]) => `\`${event}\` carries ${name}`);
  return {
    description: `Server-Sent Events: ${events.join(", ")}.`,
    content: { "text/event-stream": { schema: { type: "string" } } },
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest as ObjectSchema;
}
