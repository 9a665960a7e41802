import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { copyWorkingTree, npmEnv, root } from "../services/working-tree.ts";

const exec = promisify(execFile);

/** The package as `npm pack` makes it from the working tree, and directories to try it in. */
export class Tarball {
  /** A directory of this tarball alone. */
  readonly directory: string;
  readonly file: string;

  private constructor(directory: string, file: string) {
    this.directory = directory;
    this.file = file;
  }

  static async pack({ commit }: { readonly commit?: string } = {}): Promise<Tarball> {
    const directory = mkdtempSync(join(tmpdir(), "interlock-package-"));
    const clone = join(directory, "clone");
    await copyWorkingTree(clone);
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    const env = { ...npmEnv(), ...(commit && { INTERLOCK_COMMIT: commit }) };
    const { stdout } = await exec("npm", ["pack", "--json", "--silent", "--pack-destination", directory], {
      cwd: clone,
      env,
    });
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf("[\n")));
    return new Tarball(directory, join(directory, filename));
  }

  /** The environment of a machine on which npm has never run, and cannot reach a registry. */
  freshEnv(): NodeJS.ProcessEnv {
    const fresh = mkdtempSync(join(this.directory, "home-"));
    return {
      PATH: process.env["PATH"],
      HOME: fresh,
      npm_config_cache: join(fresh, "cache"),
      npm_config_offline: "true",
    };
  }

  /** The paths of all files, without the folder `package/`, with their permissions. */
  async list(): Promise<ReadonlyMap<string, string>> {
    const { stdout } = await exec("tar", ["-tvzf", this.file]);
    return new Map(
      stdout
        .trim()
        .split("\n")
        .map((line) => {
          const [mode = "", , , , , path = ""] = line.split(/\s+/);
          return [path.replace(/^package\//, ""), mode];
        }),
    );
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
