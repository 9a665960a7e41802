import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Isolation, UserId } from "./isolated-command.ts";

/**
 * The first directory on the path to `directory`, itself included, that the isolated user cannot enter; undefined if
 * there is none. In namespaces, everything in one of `hidden` is replaced and can be entered.
 */
export async function findClosedAncestor(
  directory: string,
  { namespaces, user }: Isolation,
  hidden: readonly string[],
): Promise<string | undefined> {
  if (!user) return undefined;
  const isReplaced = (path: string) => namespaces !== undefined && hidden.some((one) => isWithin(path, one));
  for (const path of ancestors(directory)) {
    if (!isReplaced(path) && !canEnter(await stat(path), user)) return path;
  }
  return undefined;
}

/** Whether a user without other groups may enter a directory. */
export function canEnter(
  { uid, gid, mode }: { readonly uid: number; readonly gid: number; readonly mode: number },
  user: UserId,
): boolean {
  if (uid === user.uid) return (mode & 0o100) !== 0;
  return (mode & (gid === user.gid ? 0o010 : 0o001)) !== 0;
}

/** From the root down. */
function ancestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [...ancestors(above), path];
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
