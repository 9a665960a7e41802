import { KubeError } from "../client.ts";

/** The kubelet replaces a token long before it expires, so a minute-old copy is good. */
const freshForMs = 60_000;

/** A token in a file that somebody else keeps current: read again every minute, and at once when it is refused. */
export function tokenFile(path: string, readFile: (path: string) => Promise<string>) {
  let known: { readonly token: string; readonly readAt: number } | undefined;

  return async ({ now, refused }: { readonly now: number; readonly refused: boolean }): Promise<string> => {
    if (known && !refused && now - known.readAt < freshForMs) return known.token;
    try {
      known = { token: (await readFile(path)).trim(), readAt: now };
    } catch (cause) {
      // A file that is being replaced may be missing for a moment; the token read before may well be good still.
      if (!known) throw new KubeError("unavailable", `the token file ${path} cannot be read`, { cause });
    }
    return known.token;
  };
}
