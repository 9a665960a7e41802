import { currentText } from "../../disk/index.ts";
import { KubeError } from "../client.ts";
import type { CredentialRequest } from "./connection.ts";

/** The kubelet replaces a token long before it expires, so a minute-old copy is valid. */
const freshForMs = 60_000;

/** A token in a file that another process rotates: read again every minute, and at once when the server refuses it. */
export function tokenFile(path: string, readFile: (path: string) => Promise<string>) {
  const current = currentText({ read: () => readFile(path), freshForMs });

  return async ({ clock, refused }: CredentialRequest): Promise<string> => {
    return await current({ now: clock.now(), refused: refused !== undefined }).catch((cause: unknown) => {
      throw new KubeError("unavailable", `the token file ${path} cannot be read`, { cause });
    });
  };
}
