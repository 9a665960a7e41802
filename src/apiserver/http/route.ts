import type { Registry } from "../api/registry.ts";
import type { Resource } from "../api/resource.ts";
import { reviewResources } from "./discovery.ts";

/** The meaning of a path under /api or /apis. */
export type Route =
  | { readonly kind: "collection"; readonly resource: Resource; readonly namespace: string | undefined }
  | {
      readonly kind: "object";
      readonly resource: Resource;
      readonly namespace: string;
      readonly name: string;
      readonly subresource: string;
    }
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "version"; readonly group: string; readonly version: string }
  | { readonly kind: "review"; readonly resource: Resource }
  /** Not served. As on the real server, the response is plain text unless the group is a built-in one. */
  | { readonly kind: "unknown"; readonly plainText: boolean };

/** Finds the resource that a path names. `segments` begins with `api` or `apis`. */
export function route(registry: Registry, segments: readonly string[]): Route {
  const core = segments[0] === "api";
  const [group, version] = core ? ["", segments[1]] : [segments[1] ?? "", segments[2]];
  const rest = segments.slice(core ? 2 : 3);
  const found =
    version === undefined || rest.length === 0 ? undefined : resourceRoute(registry, { group, version, rest });
  if (found) return found;

  const served = registry.all.filter((resource) => resource.group === group);
  const reviews = reviewResources.filter((resource) => resource.group === group);
  const isReview = reviews.length > 0;
  const plainText = !core && !isReview && (served.length === 0 || served.every(({ custom }) => custom));
  const unknown: Route = { kind: "unknown", plainText };
  if (served.length === 0 && !isReview) return unknown;
  if (version === undefined) return core ? unknown : { kind: "group", group };
  if (version !== "v1" && !served.some((resource) => resource.version === version)) return unknown;
  if (rest.length === 0) return { kind: "version", group, version };

  if (isReview) {
    const plural = rest[0] === "namespaces" ? rest[2] : rest[0];
    const resource = reviews.find((one) => one.plural === plural);
    if (resource) return { kind: "review", resource };
  }
  return unknown;
}

function resourceRoute(
  registry: Registry,
  { group, version, rest }: { group: string; version: string; rest: readonly string[] },
): Route | undefined {
  const inNamespace = rest[0] === "namespaces" && rest.length > 2;
  const nested = inNamespace ? registry.find(group, version, rest[2] as string) : undefined;
  const namespace = nested ? (rest[1] as string) : undefined;
  const resource = nested ?? registry.find(group, version, rest[0] as string);
  if (!resource || (nested && !nested.namespaced)) return undefined;

  const [name, subresource = "", ...tooMuch] = rest.slice(nested ? 3 : 1);
  if (tooMuch.length > 0) return undefined;
  if (name === undefined || name === "") return { kind: "collection", resource, namespace };
  if (resource.namespaced && namespace === undefined) return undefined;
  return { kind: "object", resource, namespace: namespace ?? "", name, subresource };
}
