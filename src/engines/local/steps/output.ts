import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSecretName, withoutSecrets } from "../../../telemetry/index.ts";

/** The output of a step as it may be shown: the beginning and the end, without secrets. */
export async function shownOutput(folder: string, secrets: readonly string[]): Promise<string> {
  const [head, tail, rest] = await Promise.all(["head", "tail", "rest"].map((name) => textIn(join(folder, name))));
  const tailBytes = (await stat(join(folder, "tail")).catch(() => undefined))?.size ?? 0;
  const leftOut = Number.parseInt(rest || "0", 10) - tailBytes;
  const text = leftOut > 0 ? `${head}\n… ${leftOut} bytes left out …\n${tail}` : `${head}${tail}`;
  return withoutSecrets(text, secrets);
}

/** The values that must not be shown: those of variables and parameters with a secret name. */
export function secretsIn(named: Readonly<Record<string, string | readonly string[]>>): readonly string[] {
  const values = Object.entries(named).flatMap(([name, value]) => (isSecretName(name) ? value : []));
  // A line of a key is as secret as the key. A very short value occurs in every text.
  const lines = values.flatMap((value) => [value, ...value.split("\n")]).map((value) => value.trim());
  return [...new Set(lines)].filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length);
}

async function textIn(file: string): Promise<string> {
  return await readFile(file, "utf8").catch(() => "");
}
