import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The package as a user has it: packed, and installed into an empty directory. */
export interface Installed {
  /** The file that `interlock` runs. */
  readonly program: string;
  readonly tarballMb: number;
}

export function installPackage(folder: string): Installed {
  const packed = execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", folder], {
    encoding: "utf8",
  });
  const [{ name, filename }] = JSON.parse(packed.slice(packed.indexOf("[\n")));
  const tarball = join(folder, filename);
  const user = join(folder, "user");
  mkdirSync(user);
  const quiet = ["--silent", "--offline", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...quiet, tarball], { cwd: user });
  return {
    program: join(user, "node_modules", name, "dist/interlock.mjs"),
    tarballMb: statSync(tarball).size / 1_000_000,
  };
}
