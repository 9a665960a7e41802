import { readFile } from "node:fs/promises";
import { type Config, Secret } from "../config/index.ts";

/** The texts that the agent must not show, push or log. All lists are longest first. */
export interface AgentSecrets {
  /** Interlock's own secrets, which the coder must not get. */
  own(): Promise<readonly string[]>;
  /** Interlock's own and the values of `agent.passEnvironment`. */
  all(): Promise<readonly string[]>;
  /** Like `all`, as it was last read. */
  known(): readonly string[];
}

/** Reads the secrets of the configuration. Files are read again, because they change; their earlier content stays secret. */
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
  // The coder may have read secrets that are replaced while it works.
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

/** Leaves out short texts, which occur by chance. */
function sortSecrets(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].filter(({ length }) => length >= 8).sort((a, b) => b.length - a.length);
}

/** Each line of a key is secret, too. */
function valuesIn(text: string): readonly string[] {
  return [text.trim(), ...text.split("\n").map((line) => line.trim()), ...passwordIn(text)];
}

/** Returns the tokens in lines that are a secret, or the name of a sender and its token. */
function tokensIn(text: string): readonly string[] {
  return text.split(/[\n;]/).map((line) => {
    const [first = "", second] = line.trim().split(/\s+/);
    return second ?? first;
  });
}

/** Returns the password in a URL, verbatim and decoded. */
function passwordIn(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const { password } = new URL(text);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    // A per cent sign that is not part of an escape stands for itself.
    return [password];
  }
}
