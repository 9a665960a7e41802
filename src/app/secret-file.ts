import { readFile } from "node:fs/promises";
import type { AccessToken } from "../agent/index.ts";
import type { Secret } from "../config/index.ts";
import { currentText, describeError } from "../disk/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";

const freshForMs = 5_000;

interface Around {
  readonly clock: Clock;
  readonly log?: Logger;
}

/** A secret that a setting names, in a file that may be replaced at any time: read again every few seconds. */
export function secretFile(setting: string, path: string, { clock, log }: Around): AccessToken {
  const current = currentText({
    read: () => readFile(path, "utf8"),
    freshForMs,
    onProblem: (problem) => log?.warn("secret not read", { setting, file: path, problem }),
  });
  return async ({ refused }) => {
    return await current({ now: clock.now(), refused }).catch((error: unknown) => {
      throw new TypeError(`${setting}: ${path} cannot be read (${describeError(error)})`);
    });
  };
}

interface TokenPlace {
  /** As it is written in the configuration: it wins over a file. */
  readonly value: Secret | undefined;
  readonly file: string | undefined;
  /** What names the file. */
  readonly setting: string;
}

/** Undefined: neither is set. A file that cannot be read is an error at start, not at the first use. */
export async function openToken(
  { value, file, setting }: TokenPlace,
  around: Around,
): Promise<AccessToken | undefined> {
  if (value) return async () => value.reveal();
  if (file === undefined) return undefined;
  const token = secretFile(setting, file, around);
  await token({ refused: false });
  return token;
}
