import type { Registry } from "../api/registry.ts";
import type { Resource } from "../api/resource.ts";
import { defineResource } from "../kinds/define-resource.ts";

/** `GET /apis/GROUP/VERSION` */
export function resourceList(registry: Registry, group: string, version: string): object {
  return {
    kind: "APIResourceList",
    ...(group ? { apiVersion: "v1" } : {}),
    groupVersion: group ? `${group}/${version}` : version,
    resources: listResources(registry, group, version).flatMap((resource) => [
      resourceEntry(resource),
      ...subresourceEntries(resource),
    ]),
  };
}

/** `GET /apis/GROUP` */
export function apiGroup(registry: Registry, group: string): object {
  const versions = listVersions(registry, group).map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { kind: "APIGroup", apiVersion: "v1", name: group, versions, preferredVersion: versions[0] };
}

/** `GET /apis` */
export function apiGroupList(registry: Registry): object {
  const groups = listGroups(registry).map((group) => {
    const { kind: _, apiVersion: __, ...rest } = apiGroup(registry, group) as { kind: string; apiVersion: string };
    return rest;
  });
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

/** All of discovery in one response, for `/api` (the core group alone) or `/apis`. */
export function aggregatedDiscovery(registry: Registry, version: string, groups: readonly string[]): object {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: { ...(group ? { name: group } : {}), creationTimestamp: null },
      versions: listVersions(registry, group).map((one) => ({
        version: one,
        resources: listResources(registry, group, one).map(toAggregated),
        freshness: "Current",
      })),
    })),
  };
}

/** All groups except the core group. */
export function listGroups(registry: Registry): string[] {
  return [...new Set([...registry.all, ...reviewResources].map(({ group }) => group).filter(Boolean))];
}

/** The versions of a group, best first: stable before beta before alpha, then newest first. */
export function listVersions(registry: Registry, group: string): string[] {
  const versions = new Set(listResources(registry, group).map(({ version }) => version));
  return [...versions].sort((a, b) => rank(b) - rank(a));
}

function listResources(registry: Registry, group: string, version?: string): Resource[] {
  return [...registry.all, ...reviewResources].filter(
    (resource) => resource.group === group && (version === undefined || resource.version === version),
  );
}

function rank(version: string): number {
  const [, major = "0", stage, minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  const level = stage === undefined ? 2 : stage === "beta" ? 1 : 0;
  return level * 1_000_000 + Number(major) * 1_000 + Number(minor);
}

function resourceEntry(resource: Resource): object {
  const { plural, singular, namespaced, kind, verbs } = resource;
  return { name: plural, singularName: singular, namespaced, kind, verbs, ...otherNames(resource) };
}

function otherNames({ shortNames, categories }: Resource): object {
  return { ...(shortNames.length > 0 ? { shortNames } : {}), ...(categories.length > 0 ? { categories } : {}) };
}

const statusVerbs = ["get", "patch", "update"];

function subresourceEntries({ plural, namespaced, kind, hasStatus, subresources }: Resource): object[] {
  const status = hasStatus ? [{ name: "status", kind, verbs: statusVerbs }] : [];
  return [...status, ...subresources].map(({ name, ...rest }) => ({
    name: `${plural}/${name}`,
    singularName: "",
    namespaced,
    ...rest,
  }));
}

function toAggregated(resource: Resource): object {
  const { plural, singular, namespaced, kind, verbs, hasStatus, custom } = resource;
  const own = { group: custom ? resource.group : "", version: custom ? resource.version : "", kind };
  const subresources = [
    ...resource.subresources.map((one) => ({
      subresource: one.name,
      responseKind: one.group ? { group: one.group, version: one.version, kind: one.kind } : own,
      verbs: one.verbs,
    })),
    ...(hasStatus ? [{ subresource: "status", responseKind: own, verbs: statusVerbs }] : []),
  ];
  return {
    resource: plural,
    responseKind: own,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...otherNames(resource),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

const kinds = {
  "authorization.k8s.io": [
    "SelfSubjectAccessReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
    "LocalSubjectAccessReview",
  ],
  "authentication.k8s.io": ["TokenReview", "SelfSubjectReview"],
};

/** Resources that respond to reviews and have no objects: they are in discovery, and not in the registry. */
export const reviewResources = Object.entries(kinds).flatMap(([group, names]) =>
  names.map((kind) => {
    const namespaced = kind.startsWith("Local");
    return defineResource({ group, kind, plural: `${kind.toLowerCase()}s`, namespaced, verbs: ["create"] });
  }),
);
