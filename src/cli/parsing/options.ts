import { parseDuration } from "../../time/index.ts";
import { MisuseError, type ServerContext } from "../command.ts";

/** The options for the namespace that a command searches. */
export interface NamespaceOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

/** The one namespace to search; undefined for all of them. An option wins over the setting. */
export function searchedNamespace(
  { namespace, allNamespaces = false }: NamespaceOptions,
  context: Pick<ServerContext, "namespace">,
): string | undefined {
  if (!allNamespaces) return namespace ?? context.namespace;
  if (namespace === undefined) return undefined;
  throw new MisuseError("--namespace and --all-namespaces exclude each other; use one of them");
}

/** The time in the option `name`: `2026-11-15T10:00:00Z`, or `2h` for two hours ago. In milliseconds since 1970. */
export function readMoment(name: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const agoMs = parseDuration(text);
  // JavaScript would read "5" as a month.
  const ms = agoMs === undefined ? Date.parse(/^\d{4}-/.test(text) ? text : "") : nowMs - agoMs;
  if (!Number.isNaN(ms)) return ms;
  throw new MisuseError(`--${name} ${text} is not a time; write 2026-11-15T10:00:00Z, or 2h for two hours ago`);
}
