import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";

/** The entry at a path of a work tree. Symbolic links are never followed. */
export type FolderEntry =
  | { readonly kind: "missing" }
  | { readonly kind: "file"; readonly mode: "100644" | "100755"; readonly size: number }
  | { readonly kind: "symlink" }
  | { readonly kind: "folder" }
  | { readonly kind: "other" };

/** Returns a function that reads entries of the folder, and caches which folders are real ones. */
export function folderReader(root: string): (path: string) => Promise<FolderEntry> {
  const folders = new Map<string, Promise<boolean>>();

  function isRealFolder(path: string): Promise<boolean> {
    const cached = folders.get(path) ?? lookUp(path);
    folders.set(path, cached);
    return cached;
  }
  async function lookUp(path: string): Promise<boolean> {
    if (!(await hasRealParent(path))) return false;
    return (await readStats(join(root, path)))?.isDirectory() ?? false;
  }
  async function hasRealParent(path: string): Promise<boolean> {
    const slash = path.lastIndexOf("/");
    return slash < 0 || (await isRealFolder(path.slice(0, slash)));
  }

  return async (path) => {
    if (!(await hasRealParent(path))) return { kind: "missing" };
    return toEntry(await readStats(join(root, path)));
  };
}

function toEntry(stats: Stats | undefined): FolderEntry {
  if (!stats) return { kind: "missing" };
  if (stats.isSymbolicLink()) return { kind: "symlink" };
  if (stats.isDirectory()) return { kind: "folder" };
  if (!stats.isFile()) return { kind: "other" };
  return { kind: "file", mode: stats.mode & 0o100 ? "100755" : "100644", size: stats.size };
}

async function readStats(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
