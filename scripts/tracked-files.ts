import { execFileSync } from "node:child_process";

/** The files below `folder` that belong to the repository, new ones included. */
export function trackedFiles(folder: string): readonly string[] {
  const list = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", folder], {
    encoding: "utf8",
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return list.split("\n").filter((path) => path !== "");
}
