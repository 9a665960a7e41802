import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { YamlFile } from "../config/index.ts";
import { CommandError } from "./command.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A settings file and its origin. */
export interface SettingsFile extends YamlFile {
  readonly origin: SettingsOrigin;
}

type SettingsOrigin = "--config" | "env INTERLOCK_CONFIG" | "working directory" | "home directory";

interface Candidate {
  readonly path: string;
  readonly origin: SettingsOrigin;
  /** Whether an operator named the file: then it must exist, and its owner is not checked. */
  readonly isNamed: boolean;
}

/** The possible settings files, in the order of precedence. A named file is the only candidate. */
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

/** The first settings file that exists. Throws CommandError if it cannot or must not be read. */
export async function findSettingsFile(option: string | undefined, env: Env): Promise<SettingsFile | undefined> {
  for (const { path, origin, isNamed } of settingsCandidates(option, env)) {
    if (!isNamed && !(await isTrusted(path))) continue;
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
 * False if there is no such file. Settings name programs and servers, so a file in the working directory that belongs to
 * another user is refused.
 */
async function isTrusted(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new CommandError(`the settings file ${path} cannot be read (${error.code}); name another with --config`);
  });
  if (!found?.isFile()) return false;
  if (isTrustedOwner(found.uid, process.getuid?.())) return true;
  throw new CommandError(`the settings file ${path} belongs to another user; name it with --config to use it`);
}

/** Whether a file of `owner` may be read without being named: the user or the administrator owns it. */
export function isTrustedOwner(owner: number, user: number | undefined): boolean {
  return user === undefined || owner === user || owner === 0;
}
