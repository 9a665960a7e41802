import { readdir } from "node:fs/promises";

/** Files that git opens in every folder. */
const opened = [".gitignore", ".gitattributes"];

/** Returns a pipe in place of a file that git opens, which would block git. */
export async function blockingFile(root: string, signal: AbortSignal): Promise<string | undefined> {
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(`${root}/${folder}`, { withFileTypes: true }).catch(() => [])) {
      const isOrdinary = entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
      if (opened.includes(entry.name.toLowerCase()) && !isOrdinary) return folder + entry.name;
      // Git does not read the `.git` of the work tree.
      if (entry.isDirectory() && entry.name !== ".git") open.push(`${folder}${entry.name}/`);
    }
  }
  return undefined;
}
