import { methodNotAllowed, unknownPath } from "../api/status-error.ts";
import { writeJson } from "../json/json.ts";
import { mediaTypes } from "./accept.ts";
import { aggregatedDiscovery, apiGroup, apiGroupList, listGroups, resourceList } from "./discovery.ts";
import type { Exchange } from "./exchange.ts";
import { groupVersions, openApiDocument, openApiIndex, openApiV2 } from "./openapi.ts";
import { handleCollection, handleObject } from "./resource-handlers.ts";
import { handleReview } from "./reviews.ts";
import { route } from "./route.ts";
import { sendJson, sendText } from "./send.ts";

/** Responds to a request of an authenticated caller. */
export async function dispatch(exchange: Exchange): Promise<void> {
  const { segments, response } = exchange;
  switch (segments[0]) {
    case "api":
    case "apis":
      return await dispatchApi(exchange);
    case "openapi":
      return dispatchOpenApi(exchange);
    case undefined:
      return sendJson(response, 200, writeJson({ paths: rootPaths(exchange) }));
    case "version":
      return sendJson(response, 200, writeJson(version));
    default:
      return pageNotFound(exchange);
  }
}

async function dispatchApi(exchange: Exchange): Promise<void> {
  const { segments, api, response } = exchange;
  if (segments.length === 1) return sendRoot(exchange, segments[0] === "api");
  const found = route(api.registry, segments);
  switch (found.kind) {
    case "collection":
      return await handleCollection(exchange, found);
    case "object":
      return await handleObject(exchange, found);
    case "group":
      return sendJson(response, 200, writeJson(apiGroup(api.registry, found.group)));
    case "version":
      return sendJson(response, 200, writeJson(resourceList(api.registry, found.group, found.version)));
    case "review":
      return await handleReview(exchange, found.resource);
    case "unknown":
      if (found.plainText) return pageNotFound(exchange);
      throw unknownPath();
  }
}

function sendRoot({ request, response, api }: Exchange, core: boolean): void {
  for (const { type, parameters } of mediaTypes(request.headers.accept ?? "")) {
    const wanted = parameters.get("v") ?? "";
    if (type !== "application/json" || parameters.get("as") !== "APIGroupDiscoveryList" || !/^v2(beta1)?$/.test(wanted))
      continue;
    const groups = core ? [""] : listGroups(api.registry);
    const mediaType = `application/json;g=apidiscovery.k8s.io;v=${wanted};as=APIGroupDiscoveryList`;
    return sendJson(response, 200, writeJson(aggregatedDiscovery(api.registry, wanted, groups)), mediaType);
  }
  if (!core) return sendJson(response, 200, writeJson(apiGroupList(api.registry)));
  const serverAddress = request.headers.host ?? "localhost";
  const addresses = [{ clientCIDR: "0.0.0.0/0", serverAddress }];
  sendJson(response, 200, writeJson({ kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: addresses }));
}

function dispatchOpenApi(exchange: Exchange): void {
  const { segments, response, api, method } = exchange;
  if (method !== "GET") throw methodNotAllowed();
  if (segments[1] === "v2" && segments.length === 2) {
    const types = mediaTypes(exchange.request.headers.accept ?? "*/*");
    const readable = types.some(({ type }) => ["application/json", "*/*", "application/*"].includes(type));
    if (!readable) return sendText(response, 406, "only application/json is served here\n");
    return sendJson(response, 200, writeJson(openApiV2(api.registry)));
  }
  if (segments[1] !== "v3") return pageNotFound(exchange);
  if (segments.length === 2) {
    return sendJson(response, 200, writeJson(openApiIndex(api.registry)), "text/plain; charset=utf-8");
  }
  const path = segments.slice(2).join("/");
  const found = groupVersions(api.registry).find((one) => one.path === path);
  if (!found) return pageNotFound(exchange);
  sendJson(response, 200, writeJson(openApiDocument(api.registry, found.group, found.version)));
}

function rootPaths({ api }: Exchange): string[] {
  const groups = listGroups(api.registry).map((group) => `/apis/${group}`);
  const versions = groupVersions(api.registry).map(({ path }) => `/${path}`);
  const others = ["/api", "/apis", "/apis/", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];
  return [...new Set([...others, ...groups, ...versions])].sort();
}

function pageNotFound({ response }: Pick<Exchange, "response">): void {
  sendText(response, 404, "404 page not found\n");
}

/** The response of /version: the supported API, not a release of Kubernetes. */
const version = {
  major: "1",
  minor: "32",
  gitVersion: "v1.32.0-interlock",
  gitCommit: "embedded",
  gitTreeState: "clean",
  buildDate: "2024-12-11T17:59:15Z",
  goVersion: `node-${process.version}`,
  compiler: "v8",
  platform: `${process.platform}/${process.arch}`,
};
