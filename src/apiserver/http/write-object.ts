import type { Page } from "../api/list.ts";
import type { Resource } from "../api/resource.ts";
import { StatusError } from "../api/status-error.ts";
import { writeJson } from "../json/json.ts";
import type { Entry } from "../object-store.ts";
import { isIncludeObject, partialMetadata, type TableOptions, table } from "../tables/table.ts";
import { acceptedFormat, type Format } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import { sendJson, sendYaml } from "./send.ts";

/** Responds with one object, in the requested format. */
export function sendObject(exchange: Exchange, resource: Resource, entry: Entry, code = 200): void {
  const format = acceptedFormat(exchange.request.headers.accept);
  if (format.as === "object" && format.text === "json") return sendJson(exchange.response, code, entry.json);
  send(exchange, format, code, objectAs(exchange, resource, entry, format));
}

function objectAs(exchange: Exchange, resource: Resource, { object }: Entry, format: Format): unknown {
  switch (format.as) {
    case "object":
      return object;
    case "Table": {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return table([object], tableOptions(exchange, resource, format, metadata));
    }
    case "PartialObjectMetadata":
      return partialMetadata(object, format.version);
    case "PartialObjectMetadataList":
      throw new StatusError(406, "content is not a list");
  }
}

/** Responds with a list, in which objects of built-in kinds do not repeat their kind. */
export function sendList(exchange: Exchange, resource: Resource, page: Page): void {
  const format = acceptedFormat(exchange.request.headers.accept);
  if (format.as === "object" && format.text === "json") {
    return sendJson(exchange.response, 200, listText(resource, page));
  }
  send(exchange, format, 200, listAs(exchange, resource, page, format));
}

function listAs(exchange: Exchange, resource: Resource, page: Page, format: Format): unknown {
  const objects = page.items.map(({ object }) => object);
  switch (format.as) {
    case "object":
      return JSON.parse(listText(resource, page));
    case "Table":
      return table(objects, tableOptions(exchange, resource, format, listMetadata(page, false)));
    case "PartialObjectMetadataList": {
      const items = objects.map((object) => partialMetadata(object, format.version));
      const apiVersion = `meta.k8s.io/${format.version}`;
      return { kind: "PartialObjectMetadataList", apiVersion, metadata: listMetadata(page, false), items };
    }
    case "PartialObjectMetadata": {
      const message =
        "you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)";
      throw new StatusError(406, message);
    }
  }
}

function listText(resource: Resource, page: Page): string {
  const items = page.items.map(({ json }) => (resource.custom ? json : withoutKind(resource, json)));
  const head = JSON.stringify({
    kind: resource.listKind,
    apiVersion: resource.apiVersion,
    metadata: listMetadata(page, resource.custom),
  });
  return `${head.slice(0, -1)},"items":[${items.join(",")}]}`;
}

/** Every stored text begins with apiVersion and kind, so that they can be cut off without reading the rest. */
function withoutKind({ apiVersion, kind }: Resource, json: string): string {
  const start = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},`;
  if (json.startsWith(start)) return `{${json.slice(start.length)}`;
  return json;
}

function listMetadata({ revision, continue: token, remaining }: Page, always: boolean): object {
  return {
    ...(token || always ? { continue: token } : {}),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    resourceVersion: String(revision),
  };
}

export function tableOptions(
  { api, query }: Exchange,
  resource: Resource,
  { version }: Format,
  metadata: object,
): TableOptions {
  const wanted = query.get("includeObject") ?? "Metadata";
  const includeObject = isIncludeObject(wanted) ? wanted : "Metadata";
  return { columns: resource.columns, nowMs: api.clock.wallMs(), version, includeObject, metadata };
}

function send({ response }: Exchange, { text }: Format, code: number, value: unknown): void {
  if (text === "yaml") sendYaml(response, code, value);
  else sendJson(response, code, writeJson(value));
}
