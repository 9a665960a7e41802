import { realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";

export type FolderReading =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "refused"; readonly message: string };

/** The folder `name` right below `root`: no path, no link that leads out of it. */
export async function workflowFolder(root: string, name: string): Promise<FolderReading> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) {
    return refused(`${JSON.stringify(name)} is not the name of a folder: write the name alone, without a path`);
  }
  try {
    const [base, path] = await Promise.all([realpath(root), realpath(join(root, name))]);
    if (relative(base, path) !== name) return refused(`${join(root, name)} leads out of ${root} by a link`);
    if (!(await stat(path)).isDirectory()) return refused(`${join(root, name)} is not a folder`);
    return { kind: "found", path };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return refused(`there is no folder ${join(root, name)}`);
    throw error;
  }
}

function refused(message: string): FolderReading {
  return { kind: "refused", message };
}
