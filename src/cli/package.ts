import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The build replaces this identifier. It does not exist when the sources run directly. */
declare const INTERLOCK_BUILD: Build | undefined;

/** The version of the package, and the commit it was built from, if the build was made in a repository. */
export interface Build {
  readonly version: string;
  readonly commit?: string;
}

/** The folder of the package, with its rules, workflows and examples: two above this file, and above a chunk of the bundle. */
export const packageFolder = fileURLToPath(new URL("../..", import.meta.url));

/** The built web app of the console. */
export const webFolder = join(packageFolder, "dist", "web");

export function packageVersion(): string {
  return readBuild().version;
}

/** What `interlock --version` prints. */
export function versionText(): string {
  const { version, commit } = readBuild();
  return `interlock ${version} (commit ${commit ?? "unknown"}), Node ${process.versions.node}`;
}

function readBuild(): Build {
  if (typeof INTERLOCK_BUILD !== "undefined") return INTERLOCK_BUILD;
  const { version } = JSON.parse(readFileSync(`${packageFolder}/package.json`, "utf8"));
  return { version };
}

/** The command that starts Interlock. Only a clone of the repository has `npm start`, which also builds it. */
export function startCommand(folder: string = packageFolder): string {
  return existsSync(join(folder, "scripts", "start.mjs")) ? "npm start" : "interlock up";
}
