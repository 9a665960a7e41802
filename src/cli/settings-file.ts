import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { YamlFile } from "../config/index.ts";
import { CommandError } from "./command.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A settings file, and why it is this one. */
export interface SettingsFile extends YamlFile {
  readonly origin: SettingsOrigin;
}

type SettingsOrigin = "--config" | "env INTERLOCK_CONFIG" | "working directory" | "home directory";

interface Candidate {
  readonly path: string;
  readonly origin: SettingsOrigin;
  /** Whether an operator has named it: then it must exist, and belongs to whom they trust. */
  readonly isNamed: boolean;
}

/** Where settings may be, in the order of precedence. A file that is named is the only candidate. */
export function settingsCandidates(option: string | undefined, env: Env): readonly Candidate[] {
  if (option !== undefined) return [{ path: option, origin: "--config", isNamed: true }];
  const variable = env["INTERLOCK_CONFIG"];
  if (variable) return [{ path: variable, origin: "env INTERLOCK_CONFIG", isNamed: true }];
  const home = env["XDG_CONFIG_HOME"] || (env["HOME"] && join(env["HOME"], ".config"));
  const inHome = home ? [join(home, "interlock", "config.yaml")] : [];
  return [
    { path: "interlock.yaml", origin: "working directory", isNamed: false },
    ...inHome.map((path) => ({ path, origin: "home directory", isNamed: false }) as const),
  ];
}

/** The first settings file that exists. Throws CommandError if it cannot be read, or must not be. */
export async function findSettingsFile(option: string | undefined, env: Env): Promise<SettingsFile | undefined> {
  for (const { path, origin, isNamed } of settingsCandidates(option, env)) {
    if (!isNamed && !(await isOurs(path))) continue;
    return { path, origin, text: await readSettings(isNamed ? origin : "the settings file", path) };
  }
  return undefined;
}

export async function readSettings(named: string, path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${named} ${path} cannot be read (${error.code}); name a file that exists`);
  });
}

/**
 * False if there is no such file. Settings name programs and servers, so a file that another user has left in the working
 * directory is refused rather than obeyed.
 */
async function isOurs(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new CommandError(`the settings file ${path} cannot be read (${error.code}); name another with --config`);
  });
  if (!found?.isFile()) return false;
  if (isTrustedOwner(found.uid, process.getuid?.())) return true;
  throw new CommandError(`the settings file ${path} belongs to another user; name it with --config to use it`);
}

/** Whether a file of `owner` is read without being named: it is the user's own, or the administrator's. */
export function isTrustedOwner(owner: number, user: number | undefined): boolean {
  return user === undefined || owner === user || owner === 0;
}
