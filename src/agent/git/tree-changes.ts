import type { GitOutput } from "../../process/index.ts";
import { expectOutput } from "./run-git.ts";
import type { TreeChange } from "./tree-change.ts";

type GitRun = (args: readonly string[]) => Promise<GitOutput>;

/** Returns every path that differs between two trees. */
export async function treeChanges(run: GitRun, from: string, to: string): Promise<readonly TreeChange[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
  const fields = (await expectOutput("diff-tree", run(args))).toString().split("\0");
  const changes: TreeChange[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode, newMode] = (fields[i] ?? "").replace(/^:/, "").split(" ");
    changes.push({ path: fields[i + 1] ?? "", oldMode: toMode(oldMode), newMode: toMode(newMode) });
  }
  return changes;
}

function toMode(mode: string | undefined): string | undefined {
  return mode === "000000" ? undefined : mode;
}
