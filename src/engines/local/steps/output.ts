import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSecretName, withoutSecrets } from "../../../telemetry/index.ts";

/** Reads the output of a step, its first and its last part, and redacts secrets. */
export async function readOutput(folder: string, secrets: readonly string[]): Promise<string> {
  const [head, tail, rest] = await Promise.all(["head", "tail", "rest"].map((name) => readText(join(folder, name))));
  const tailBytes = (await stat(join(folder, "tail")).catch(() => undefined))?.size ?? 0;
  const leftOut = Number.parseInt(rest || "0", 10) - tailBytes;
  const text = leftOut > 0 ? `${head}\n… ${leftOut} bytes left out …\n${tail}` : `${head}${tail}`;
  return withoutSecrets(text, secrets);
}

/** Lists the values to redact: those of variables and parameters with the name of a secret, or that are declared as secret. */
export function listSecrets(
  named: Readonly<Record<string, string | readonly string[]>>,
  declared: readonly string[],
): readonly string[] {
  const isSecret = (name: string) => isSecretName(name) || declared.includes(name);
  const values = Object.entries(named).flatMap(([name, value]) => (isSecret(name) ? value : []));
  // Each line of a key is secret, too. Very short values would redact parts of ordinary words.
  const lines = values.flatMap((value) => [value, ...value.split("\n")]).map((value) => value.trim());
  return [...new Set(lines)].filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length);
}

async function readText(file: string): Promise<string> {
  return await readFile(file, "utf8").catch(() => "");
}
