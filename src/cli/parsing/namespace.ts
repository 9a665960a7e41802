import { type Desk, MisuseError } from "../command.ts";

/** The options that say where a command searches. */
export interface NamespaceOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

/** The one namespace to search; undefined for all of them. An option wins over the setting. */
export function searchedNamespace(
  { namespace, allNamespaces = false }: NamespaceOptions,
  desk: Pick<Desk, "namespace">,
): string | undefined {
  if (!allNamespaces) return namespace ?? desk.namespace;
  if (namespace === undefined) return undefined;
  throw new MisuseError("--namespace and --all-namespaces exclude each other");
}
