import { git } from "./git.ts";

export interface DiffFile {
  readonly oldPath: string;
  readonly newPath: string;
  readonly oldMode: string;
  readonly newMode: string;
  readonly kind: "added" | "deleted" | "renamed" | "changed";
  /** From the first `@@` on; a sentence for binary files, nothing where only names or modes differ. */
  readonly text: string;
}

/** A line of a diff: added ones have only a new number, removed ones only an old one. */
export interface DiffLine {
  readonly old?: number;
  readonly new?: number;
}

/** The differences between two commits, computed by git. */
export async function readDiff(directory: string, from: string, to: string, context: number): Promise<DiffFile[]> {
  const options = ["--raw", "-p", "-z", "-M", "--no-color", "--no-ext-diff", "--abbrev=40", `-U${context}`];
  const out = (await git(directory, ["diff", ...options, from, to])).toString();
  if (out === "") return [];
  const end = out.indexOf("\0\0");
  const records = recordsOf(out.slice(0, end).split("\0"));
  const patches = out.slice(end + 2).split(/^(?=diff --git )/m);
  return records.map((record, at) => ({ ...record, text: textOf(patches[at] ?? "") }));
}

type Record = Omit<DiffFile, "text">;

function recordsOf(fields: readonly string[]): Record[] {
  const records: Record[] = [];
  for (let at = 0; at < fields.length; ) {
    const [oldMode = "", newMode = "", , , status = ""] = (fields[at] ?? "").slice(1).split(" ");
    const path = fields[at + 1] ?? "";
    const isRename = status.startsWith("R");
    records.push(
      ...recordsFor(status, { oldPath: path, newPath: isRename ? (fields[at + 2] ?? "") : path, oldMode, newMode }),
    );
    at += isRename ? 3 : 2;
  }
  return records;
}

/** In a diff, a file that becomes a link is a deleted file and an added one. */
function recordsFor(status: string, file: Omit<Record, "kind">): Record[] {
  if (status === "T") {
    return [
      { ...file, newMode: "0", kind: "deleted" },
      { ...file, oldMode: "0", kind: "added" },
    ];
  }
  const kinds = { A: "added", D: "deleted", R: "renamed" } as const;
  return [{ ...file, kind: kinds[status.charAt(0) as keyof typeof kinds] ?? "changed" }];
}

function textOf(patch: string): string {
  return /^(@@|Binary files )[\s\S]*/m.exec(patch)?.[0] ?? "";
}

/** Every line of the diff with its numbers. */
export function linesOf({ text }: DiffFile): DiffLine[] {
  const lines: DiffLine[] = [];
  let old = 0;
  let now = 0;
  for (const line of text.split("\n")) {
    const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line) ?? [];
    if (oldStart !== undefined) [old, now] = [Number(oldStart), Number(newStart)];
    else if (line.startsWith("+")) lines.push({ new: now++ });
    else if (line.startsWith("-")) lines.push({ old: old++ });
    else if (line.startsWith(" ")) lines.push({ old: old++, new: now++ });
  }
  return lines;
}
