import type { GitOutput } from "../../process/index.ts";
import { protectedPathMatcher } from "./protected-paths.ts";
import { expectOutput } from "./run-git.ts";
import type { PatchLimits, PatchReading, PatchRefusal } from "./workshop.ts";

/** The change of one path. Modes are those of git; `undefined`: the path does not exist. */
export interface TreeChange {
  readonly path: string;
  readonly oldMode: string | undefined;
  readonly newMode: string | undefined;
}

export type Refused = Extract<PatchReading, { kind: "refused" }>;

/** Returns the first violation; undefined if the changes are allowed. */
export function findViolation(changes: readonly TreeChange[], limits: PatchLimits): Refused | undefined {
  const isProtected = protectedPathMatcher(limits.protectedPaths);
  for (const change of changes) {
    const refusal = checkPath(change.path) ?? checkMode(change);
    if (refusal) return refusal;
    if (isProtected(change.path)) {
      return refuse("ProtectedPath", `${quotePath(change.path)} is protected: a person has to change it`);
    }
  }
  return changes.length > limits.maxFiles ? refuseCount(limits) : undefined;
}

export function refuse(reason: PatchRefusal, message: string): Refused {
  return { kind: "refused", reason, message };
}

export function refuseCount({ maxFiles }: PatchLimits): Refused {
  return refuse("TooManyFiles", `more than ${maxFiles} files changed: ask for less at once`);
}

export function refuseSize({ maxBytes }: PatchLimits): Refused {
  return refuse("TooLarge", `the change is larger than ${maxBytes} bytes: ask for less at once`);
}

/** A path for messages. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

/** Refuses paths that have another meaning on some systems. */
export function checkPath(path: string): Refused | undefined {
  const problem = findPathProblem(path);
  return problem === undefined ? undefined : refuse("BadPath", `${quotePath(path)} ${problem}: rename it`);
}

function findPathProblem(path: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  if (/[\u0000-\u001f\u007f]/.test(path)) return "has a control character in its name";
  if (path.includes("\ufffd")) return "is not in UTF-8";
  if (path.includes("\\")) return "has a backslash in its name";
  if (Buffer.byteLength(path) > 4_000) return "is too long";
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "is not a plain path";
  if (parts.some(isDotGit)) return "would be part of git's own folder on some systems";
  return undefined;
}

// Characters that some file systems ignore when they compare names.
const ignorable = /\p{Default_Ignorable_Code_Point}/gu;

function isDotGit(part: string): boolean {
  const plain = part.normalize("NFKC").replace(ignorable, "").toLowerCase();
  return /^(\.git|git~\d+)([ .]*|:.*)$/.test(plain);
}

function checkMode({ path, oldMode, newMode }: TreeChange): Refused | undefined {
  const modes = [oldMode, newMode];
  if (modes.includes("160000")) return refuse("Submodule", `${quotePath(path)} is another repository: remove it`);
  if (newMode === undefined) return undefined;
  if (modes.includes("120000"))
    return refuse("Symlink", `${quotePath(path)} is or was a symbolic link: leave it as it is`);
  if (newMode === "100644" || newMode === "100755") return undefined;
  return refuse("BadMode", `${quotePath(path)} is not a regular file (${newMode})`);
}

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
