import { readdir } from "node:fs/promises";

/** What git opens wherever it finds it. */
const opened = [".gitignore", ".gitattributes"];

/** Something in the folder that would keep git waiting when it opens it: a pipe in place of one of its own files. */
export async function blockingFile(root: string, signal: AbortSignal): Promise<string | undefined> {
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(`${root}/${folder}`, { withFileTypes: true }).catch(() => [])) {
      const isOrdinary = entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
      if (opened.includes(entry.name.toLowerCase()) && !isOrdinary) return folder + entry.name;
      // Of the folder's own `.git` git sees nothing.
      if (entry.isDirectory() && entry.name !== ".git") open.push(`${folder}${entry.name}/`);
    }
  }
  return undefined;
}
