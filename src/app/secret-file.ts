import { readFile } from "node:fs/promises";
import type { AccessToken } from "../agent/index.ts";
import type { Secret } from "../config/index.ts";
import { currentText, describeError } from "../disk/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";

const freshForMs = 5_000;

interface SecretFileDeps {
  readonly clock: Clock;
  readonly log?: Logger;
}

/** Reads a secret from the file that `setting` names. The file may be replaced at any time: it is read again every few seconds. */
export function secretFile(setting: string, path: string, { clock, log }: SecretFileDeps): AccessToken {
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

/** A secret that is set directly or in a file. */
export interface SecretSetting {
  /** Takes precedence over the file. */
  readonly value: Secret | undefined;
  readonly file: string | undefined;
  /** The setting that names the file. */
  readonly setting: string;
}

/** Returns undefined if neither is set. A file that cannot be read is an error at start, not at the first use. */
export async function openToken(
  { value, file, setting }: SecretSetting,
  deps: SecretFileDeps,
): Promise<AccessToken | undefined> {
  if (value) return async () => value.reveal();
  if (file === undefined) return undefined;
  const token = secretFile(setting, file, deps);
  await token({ refused: false });
  return token;
}
