import { readFile } from "node:fs/promises";
import { invalidKubeconfig } from "./connection.ts";
import type { ChosenContext, KubeconfigText } from "./kubeconfig-schema.ts";
import { readPlain } from "./plain-kubeconfig.ts";

/** Loaded only for files that need it: the schema and its libraries take longer to load than a request to the server. */
const schema = () => import("./kubeconfig-schema.ts");

/**
 * Reads kubeconfig files and finds `context`, or the current one. Of several files, the first that has an entry wins, and
 * missing ones are skipped, as in kubectl. No message quotes a file: it is full of secrets.
 */
export async function readKubeconfig(paths: readonly string[], context: string | undefined): Promise<ChosenContext> {
  const files = await readFiles(paths);
  return readPlain(files, context) ?? (await schema()).readChecked(files, context);
}

/** The names of all contexts, and the current one. Of several files, the first that names a current context wins. */
export async function listContexts(
  paths: readonly string[],
): Promise<{ readonly names: readonly string[]; readonly current: string | undefined }> {
  return (await schema()).checkedContexts(await readFiles(paths));
}

async function readFiles(paths: readonly string[]): Promise<readonly KubeconfigText[]> {
  const files: KubeconfigText[] = [];
  let missing: unknown;
  for (const path of paths) {
    const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== "ENOENT") throw invalidKubeconfig(`${path} cannot be read`, cause);
      missing ??= cause;
      return undefined;
    });
    if (text !== undefined) files.push({ path, text });
  }
  if (files.length === 0) throw invalidKubeconfig(`${paths.join(", ")} cannot be read`, missing);
  return files;
}
