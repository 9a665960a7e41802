import { createHash } from "node:crypto";
import type { StructuralSchema } from "../../kube/index.ts";
import type { Registry } from "../api/registry.ts";
import type { Resource } from "../api/resource.ts";
import { objectMeta } from "../kinds/object-meta.ts";
import { listGroups, listVersions } from "./discovery.ts";

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const metaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** `GET /openapi/v3`: where the document of each group is, with a hash that changes when the document does. */
export function openApiIndex(registry: Registry): object {
  const paths: Record<string, object> = {};
  for (const { path, group, version } of groupVersions(registry)) {
    const text = JSON.stringify(openApiDocument(registry, group, version));
    const hash = createHash("sha256").update(text).digest("hex").toUpperCase();
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths };
}

/** `GET /openapi/v3/apis/GROUP/VERSION` */
export function openApiDocument(registry: Registry, group: string, version: string): object {
  const resources = registry.all.filter((one) => one.group === group && one.version === version);
  const schemas: Record<string, object> = { [metaName]: objectMeta };
  const paths: Record<string, object> = {};
  for (const resource of resources) {
    schemas[schemaName(resource)] = kindSchema(resource);
    Object.assign(paths, resourcePaths(resource));
  }
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: "v1.32.0" }, paths, components: { schemas } };
}

/** `GET /openapi/v2`: definitions alone. */
export function openApiV2(registry: Registry): object {
  const definitions: Record<string, object> = { [metaName]: objectMeta };
  for (const resource of registry.all) {
    const { properties, ...schema } = kindSchema(resource) as { properties: object };
    definitions[schemaName(resource)] = {
      ...schema,
      properties: { ...properties, metadata: { $ref: `#/definitions/${metaName}` } },
    };
  }
  return { swagger: "2.0", info: { title: "Kubernetes", version: "v1.32.0" }, paths: {}, definitions };
}

/** The groups and versions that have a document, by the path under /openapi/v3. */
export function groupVersions(registry: Registry): { path: string; group: string; version: string }[] {
  const core = { path: "api/v1", group: "", version: "v1" };
  const others = listGroups(registry).flatMap((group) =>
    listVersions(registry, group).map((version) => ({ path: `apis/${group}/${version}`, group, version })),
  );
  return [core, ...others];
}

/** `ai.kubernaut.v1alpha1.WorkflowExecution`; built-in kinds are called after their Go packages. */
function schemaName({ group, version, kind, custom }: Resource): string {
  if (custom) return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
  if (group === "apiextensions.k8s.io")
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  return `io.k8s.api.${group.split(".")[0] || "core"}.${version}.${kind}`;
}

function kindSchema(resource: Resource): object {
  const { group, version, kind, schema } = resource;
  const { metadata: _, apiVersion: __, kind: ___, ...fields } = schema.properties ?? {};
  const { properties: ____, ...rest } = schema;
  return {
    ...rest,
    type: "object",
    properties: {
      apiVersion: {
        type: "string",
        description:
          "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized " +
          "schemas to the latest internal value, and may reject unrecognized values. More info: " +
          `${conventions}#resources`,
      },
      kind: {
        type: "string",
        description:
          "Kind is a string value representing the REST resource this object represents. Servers may infer this from the " +
          `endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
      },
      metadata: {
        description: `Standard object's metadata. More info: ${conventions}#metadata`,
        allOf: [{ $ref: `#/components/schemas/${metaName}` }],
      },
      ...(fields as Readonly<Record<string, StructuralSchema>>),
    },
    "x-kubernetes-group-version-kind": [{ group, kind, version }],
  };
}

function resourcePaths(resource: Resource): Record<string, object> {
  const { group, version, plural, namespaced, hasStatus } = resource;
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const paths: Record<string, object> = {
    [collection]: {
      get: operation(resource, "list"),
      post: operation(resource, "post"),
      delete: operation(resource, "deletecollection"),
    },
    [`${collection}/{name}`]: objectOperations(resource),
  };
  if (hasStatus) paths[`${collection}/{name}/status`] = objectOperations(resource);
  if (namespaced) paths[`${root}/${plural}`] = { get: operation(resource, "list") };
  return paths;
}

function objectOperations(resource: Resource): object {
  return {
    get: operation(resource, "get"),
    put: operation(resource, "put"),
    patch: operation(resource, "patch"),
    delete: operation(resource, "delete"),
  };
}

const queryParameters = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
  name,
  in: "query",
  schema: { type: name === "force" ? "boolean" : "string", uniqueItems: true },
}));

const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

/** From this kubectl reads the supported parameters, and the content types of a patch. */
function operation(resource: Resource, action: string): object {
  const { group, version, kind, custom } = resource;
  const schema = { $ref: `#/components/schemas/${schemaName(resource)}` };
  const types = custom ? patchTypes.slice(0, 2) : patchTypes;
  const body = Object.fromEntries(types.map((type) => [type, { schema: { type: "object" } }]));
  const writes = ["post", "put", "patch"].includes(action);
  return {
    ...(writes ? { parameters: queryParameters } : {}),
    ...(action === "patch" ? { requestBody: { content: body, required: true } } : {}),
    ...(action === "post" || action === "put"
      ? { requestBody: { content: { "*/*": { schema } }, required: true } }
      : {}),
    responses: { "200": { description: "OK", content: { "application/json": { schema } } } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, kind, version },
  };
}
