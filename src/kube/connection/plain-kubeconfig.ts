import { dirname, resolve } from "node:path";
import { isJsonObject, type JsonObject } from "../object.ts";
import type { ChosenContext, KubeconfigText } from "./kubeconfig-schema.ts";

/**
 * Reads a file that `interlock up` wrote: JSON as JSON.stringify writes it, whose chosen entries have only texts that need no
 * further check. Undefined for any other file, valid or not: the schema has to check it.
 */
export function readPlain(files: readonly KubeconfigText[], context: string | undefined): ChosenContext | undefined {
  const [file, another] = files;
  if (!file || another) return undefined;
  const config = parsePlainJson(file.text);
  const chosen = findTexts(config, "context", context ?? config?.["current-context"], ["cluster", "user", "namespace"]);
  const cluster = findTexts(config, "cluster", chosen?.["cluster"], ["server", "certificate-authority-data"]);
  const user = findTexts(config, "user", chosen?.["user"], ["token", "client-certificate-data", "client-key-data"]);
  if (!chosen || !cluster || !user) return undefined;

  const resolvePath = (path: string) => resolve(dirname(file.path), path);
  return {
    namespace: chosen["namespace"],
    cluster: { name: chosen["cluster"] as string, fields: cluster, resolve: resolvePath },
    user: { name: chosen["user"] as string, fields: user, resolve: resolvePath },
  };
}

type EntryTexts = Readonly<Record<string, string>>;

/** Undefined unless JSON.stringify would write the same text. In any other text a field may occur twice. */
function parsePlainJson(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && JSON.stringify(value, null, 2) === text.trim() ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The fields of the entry `name`, if all of them are among `known`, and none is empty. */
function findTexts(
  config: JsonObject | undefined,
  kind: "context" | "cluster" | "user",
  name: unknown,
  known: readonly string[],
): EntryTexts | undefined {
  const entries = config?.[`${kind}s`];
  if (!Array.isArray(entries) || !entries.every((one) => isJsonObject(one) && typeof one["name"] === "string")) {
    return undefined;
  }
  const fields: unknown = entries.find((one: JsonObject) => one["name"] === name)?.[kind];
  if (!isJsonObject(fields)) return undefined;
  const isPlain = Object.entries(fields).every(
    ([key, text]) => known.includes(key) && text && typeof text === "string",
  );
  return isPlain ? (fields as EntryTexts) : undefined;
}
