import { readFile } from "node:fs/promises";
import { type Config, Secret } from "../config/index.ts";

/** What must not be shown, pushed or logged by the coder's stage. All lists are longest first. */
export interface AgentSecrets {
  /** Interlock's own. The coder must not get them at all. */
  own(): Promise<readonly string[]>;
  /** Interlock's own and the values of `agent.passEnvironment`. */
  all(): Promise<readonly string[]>;
  /** Like `all`, as it was last read. */
  known(): readonly string[];
}

/** Reads the secrets of the configuration. Files change, so they are read again; what they held before stays secret. */
export async function openSecrets(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentSecrets> {
  const values = Object.values(config).flatMap((section) => Object.values(section as object));
  const fixed = values.flatMap((value) => (value instanceof Secret ? [value.reveal()] : []));
  const { gateway, gitlab, agent } = config;
  const secrets = new Set(fixed.flatMap((text) => [text, ...passwordIn(text)]));
  for (const token of tokensIn(gateway.tokens?.reveal() ?? "")) secrets.add(token);
  const passed = (agent.passEnvironment ?? []).flatMap((name) => valuesIn(env[name] ?? ""));
  let known: readonly string[] = [];
  const own = async () => {
    for (const file of secretFiles(config)) {
      const text = await readFile(file, "utf8").catch(() => "");
      const isList = file === gateway.tokenFile || file === gitlab.webhookSecretFile;
      for (const one of [text.trim(), ...(isList ? tokensIn(text) : [])]) secrets.add(one);
    }
    return sortSecrets(secrets);
  };
  const all = async () => {
    known = sortSecrets([...(await own()), ...passed]);
    return known;
  };
  // The coder may have seen those that are replaced while it works.
  await all();
  return { own, all, known: () => known };
}

/** The settings that name a file with a secret, by the end of their name. */
const secretFileSetting = /((token|secret|key|url|password)File|kubeconfig)$/i;

/** Files of the configuration that hold secrets. */
export function secretFiles(config: Config): readonly string[] {
  return Object.values(config)
    .flatMap((section) => Object.entries<unknown>(section))
    .flatMap(([name, value]) => (secretFileSetting.test(name) && typeof value === "string" ? [value] : []));
}

/** What is very short occurs in everything. */
function sortSecrets(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].filter(({ length }) => length >= 8).sort((a, b) => b.length - a.length);
}

/** A key of several lines is as secret in each of them. */
function valuesIn(text: string): readonly string[] {
  return [text.trim(), ...text.split("\n").map((line) => line.trim()), ...passwordIn(text)];
}

/** Of lines that are a secret, or the name of a sender and its token. */
function tokensIn(text: string): readonly string[] {
  return text.split(/[\n;]/).map((line) => {
    const [first = "", second] = line.trim().split(/\s+/);
    return second ?? first;
  });
}

function passwordIn(text: string): readonly string[] {
  return URL.canParse(text) ? [decodeURIComponent(new URL(text).password)] : [];
}
