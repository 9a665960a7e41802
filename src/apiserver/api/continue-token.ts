import { isRecord } from "../json/json.ts";
import { badRequest } from "./status-error.ts";

/** Where a page ended: at which moment, and after which object. Revision 0 means the newest, whatever it is by then. */
export interface Continuation {
  readonly revision: number;
  readonly after: string;
}

/** The opaque text that a client sends back to get the next page. */
export function continueToken({ revision, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ rv: revision, start: after })).toString("base64url");
}

/** Throws 400 for anything that we did not write. */
export function readContinueToken(token: string): Continuation {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    const { rv, start } = isRecord(value) ? (value as { rv?: unknown; start?: unknown }) : {};
    if (Number.isSafeInteger(rv) && typeof start === "string") return { revision: rv as number, after: start };
  } catch {
    // Not JSON: refused below like everything else that is not ours.
  }
  throw badRequest("invalid continue token: continue key is not valid");
}
