import { readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";

/** Returns the links that lead, or may lead, out of the folder; `root` is its real path. */
export async function outsideLinks(root: string, links: readonly string[]): Promise<string[]> {
  const outside: string[] = [];
  for (const link of links) if (await leadsOut(root, link)) outside.push(link);
  return outside;
}

async function leadsOut(root: string, link: string): Promise<boolean> {
  const target = await readlink(join(root, link));
  // `a/..` is the parent of `a` only if `a` is not a link.
  if (isAbsolute(target) || /[^/.][^/]*\/+\.\.(\/|$)/.test(target)) return true;
  if (normalize(join(dirname(link), target)).split("/")[0] === "..") return true;
  const real = await realpath(join(root, link)).catch(() => undefined);
  return real !== undefined && real !== root && !real.startsWith(`${root}/`);
}
