import type { CrdVersion, CustomResourceDefinition } from "../../kube/index.ts";
import type { CustomKind } from "../target/kinds.ts";

/** The kinds that definitions add to the built-in ones, for `kindsWith`. */
export function toCustomKinds(definitions: readonly Pick<CustomResourceDefinition, "spec">[]): CustomKind[] {
  return definitions.map(({ spec: { names, group: home, scope, versions } }) => {
    const version = preferredVersion(versions);
    return {
      kind: names.kind,
      plural: names.plural,
      group: home,
      namespaced: scope === "Namespaced",
      ...(names.singular && { singular: names.singular }),
      ...(names.shortNames && { shortNames: names.shortNames }),
      ...(version !== undefined && { version }),
    };
  });
}

/** The stored version, which needs no conversion, if it is served. */
function preferredVersion(versions: readonly CrdVersion[]): string | undefined {
  const served = versions.filter((version) => version.served);
  return (served.find(({ storage }) => storage) ?? served[0])?.name;
}

/** A definition reduced to its names and versions: its schemas may have a megabyte. */
export function namesOnly({ metadata, spec }: CustomResourceDefinition): CustomResourceDefinition {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  const { group: home, scope, names, versions } = spec;
  return {
    metadata: { name, uid, resourceVersion },
    spec: {
      group: home,
      scope,
      names,
      versions: versions.map(({ name, served, storage }) => ({ name, served, storage })),
    },
  };
}
