import { existsSync, readFileSync } from "node:fs";

/** The version in package.json. */
export function packageVersion(): string {
  // The bundle is one folder nearer to it than this file is.
  const files = ["../package.json", "../../package.json"].map((path) => new URL(path, import.meta.url));
  return JSON.parse(readFileSync(files.find(existsSync) ?? "package.json", "utf8")).version;
}
