import { currentText } from "../../disk/index.ts";
import { KubeError } from "../client.ts";

/** The kubelet replaces a token long before it expires, so a minute-old copy is good. */
const freshForMs = 60_000;

/** A token in a file that somebody else keeps current: read again every minute, and at once when it is refused. */
export function tokenFile(path: string, readFile: (path: string) => Promise<string>) {
  const current = currentText({ read: () => readFile(path), freshForMs });

  return async (moment: { readonly now: number; readonly refused: boolean }): Promise<string> => {
    return await current(moment).catch((cause: unknown) => {
      throw new KubeError("unavailable", `the token file ${path} cannot be read`, { cause });
    });
  };
}
