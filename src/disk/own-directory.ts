import type { Stats } from "node:fs";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { DiskError } from "./disk.ts";

/**
 * The real path of a directory that only our user can change; created if it is missing. Rejects with a `DiskError`
 * `unsafe` for a symbolic link, a foreign owner or a mode that lets others write: the content of such a directory may come from
 * another user, and must not decide which files are removed or which processes are ended. So is a directory below one that
 * another user can change: that user could replace it.
 * `setting` names the setting for the error message.
 */
export async function openOwnDirectory(path: string, setting: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    // A dangling link, or a file: the check below reports it.
    if (error.code !== "EEXIST" && error.code !== "ENOENT") throw error;
  });
  const uid = process.getuid?.();
  const problem = ownershipProblem(await lstat(path), uid);
  const elsewhere = `or set ${setting} to another directory`;
  if (problem) {
    throw new DiskError("unsafe", `${setting} ${path} ${problem.what}; fix: ${problem.fix(path)}, ${elsewhere}`);
  }
  const real = await realpath(path);
  for (const above of ancestors(real)) {
    const what = ancestorProblem(await lstat(above), uid);
    if (what)
      throw new DiskError(
        "unsafe",
        `${setting} ${path} is below ${above}, which ${what}; fix: change that, ${elsewhere}`,
      );
  }
  return real;
}

function ancestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...ancestors(above)];
}

/** The owner of files whose user does not exist in a user namespace. No process in there is that user. */
const unmappedUid = 65_534;
const sticky = 0o1000;

/** Why another user can rename a directory below one with these properties; the groups of directories are trusted. */
export function ancestorProblem(found: Pick<Stats, "uid" | "mode">, uid: number | undefined): string | undefined {
  if (uid !== undefined && ![uid, 0, unmappedUid].includes(found.uid)) return `belongs to user ${found.uid}`;
  const isOpen = (found.mode & 0o002) !== 0 && (found.mode & sticky) === 0;
  return isOpen ? "can be changed by all users" : undefined;
}

/** Rejects with a `DiskError` `unsafe` unless the directory is ours alone, as `openOwnDirectory` requires. */
export async function assertOwned(path: string): Promise<void> {
  const problem = ownershipProblem(await lstat(path), process.getuid?.());
  if (problem) throw new DiskError("unsafe", `${path} ${problem.what}; fix: ${problem.fix(path)}`);
}

interface OwnershipProblem {
  readonly what: string;
  readonly fix: (path: string) => string;
}

/** Why a directory with these properties is not ours alone; `uid` is our user, undefined where there are none. */
export function ownershipProblem(
  found: Pick<Stats, "isSymbolicLink" | "isDirectory" | "uid" | "mode">,
  uid: number | undefined,
): OwnershipProblem | undefined {
  if (found.isSymbolicLink()) return { what: "is a symbolic link", fix: (path) => `remove the link ${path}` };
  if (!found.isDirectory()) return { what: "is not a directory", fix: (path) => `remove the file ${path}` };
  if (uid !== undefined && found.uid !== uid) {
    return {
      what: `belongs to user ${found.uid}, and this process runs as user ${uid}`,
      fix: (path) => `make sure that you trust its contents and run chown -R ${uid} ${path}`,
    };
  }
  if ((found.mode & 0o022) !== 0) {
    const mode = (found.mode & 0o7777).toString(8).padStart(4, "0");
    return {
      what: `can be changed by other users (mode ${mode})`,
      fix: (path) => `make sure that you trust its contents and run chmod go-w ${path}`,
    };
  }
  return undefined;
}
