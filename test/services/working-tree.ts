import { execFile } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Copies the files of the repository as they are now, committed or not. */
export async function copyWorkingTree(directory: string): Promise<void> {
  const listing = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--deduplicate"];
  const { stdout } = await promisify(execFile)("git", listing, { cwd: root, maxBuffer: 100_000_000 });
  for (const file of stdout.split("\0").filter((file) => file && existsSync(join(root, file)))) {
    cpSync(join(root, file), join(directory, file));
  }
}

/** The registry and the proxy as configured, and no setting of Interlock or hook of the test runner. */
export function npmEnv(): NodeJS.ProcessEnv {
  const wanted = /^(PATH|HOME|npm_config_.*|.*_proxy|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => wanted.test(name)));
}
