import type { Finding } from "../coder/coder.ts";
import type { Changes, FileChange, Position } from "../gitlab/gitlab.ts";

/**
 * Returns GitLab's position for a comment on the finding's line; undefined: the file did not change, or GitLab does not
 * display the line. An added line has only its new number, a removed one only its old one, every other line has both.
 */
export function findPosition({ path, line, side }: Finding, { refs, files }: Changes): Position | undefined {
  const file = findFile(path, side, files);
  if (!file) return undefined;
  const numbers = findNumbers(line, side, file.diff);
  return numbers && { ...refs, oldPath: file.oldPath, newPath: file.newPath, ...numbers };
}

function findNumbers(line: number, side: Finding["side"], diff: string): DiffLine | undefined {
  const lines = toLines(diff);
  const number = (each: DiffLine) => (side === "new" ? each.newLine : each.oldLine);
  const shown = lines.find((each) => number(each) === line);
  if (shown) return shown;
  // Between hunks nothing changed: the numbers differ by as much as those of the next hunk. After the last one there
  // may be no such line.
  const next = parseHunks(diff).find((hunk) => line < (side === "new" ? hunk.newLine : hunk.oldLine));
  if (!next || line < 1) return undefined;
  const shift = next.newLine - next.oldLine;
  return side === "new" ? { oldLine: line - shift, newLine: line } : { oldLine: line, newLine: line + shift };
}

/** By the name of that side; else by the other name. */
function findFile(path: string, side: Finding["side"], files: readonly FileChange[]): FileChange | undefined {
  const byNew = files.find(({ newPath }) => newPath === path);
  const byOld = files.find(({ oldPath }) => oldPath === path);
  return side === "new" ? (byNew ?? byOld) : (byOld ?? byNew);
}

interface DiffLine {
  readonly oldLine?: number;
  readonly newLine?: number;
}

interface Hunk {
  readonly oldLine: number;
  readonly newLine: number;
  readonly lines: DiffLine[];
}

function toLines(diff: string): readonly DiffLine[] {
  return parseHunks(diff).flatMap(({ lines }) => lines);
}

/** Parses the hunks of a unified diff by their line counts: a removed `-- x` looks like a header. */
function parseHunks(diff: string): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let at = { oldLine: 0, newLine: 0, oldEnd: 0, newEnd: 0 };
  for (const text of diff.split("\n")) {
    if (at.oldLine >= at.oldEnd && at.newLine >= at.newEnd) {
      const head = parseHead(text);
      if (!head) continue;
      at = head;
      hunks.push({ ...firstLines(head), lines: [] });
      continue;
    }
    const line = toLine(text, at);
    if (!line) continue;
    hunks.at(-1)?.lines.push(line);
    at = { ...at, oldLine: at.oldLine + (line.oldLine ? 1 : 0), newLine: at.newLine + (line.newLine ? 1 : 0) };
  }
  return hunks;
}

function toLine(text: string, { oldLine, newLine }: { oldLine: number; newLine: number }): DiffLine | undefined {
  if (text.startsWith("+")) return { newLine };
  if (text.startsWith("-")) return { oldLine };
  // "\ No newline at end of file" is not a line of the file.
  return text.startsWith("\\") ? undefined : { oldLine, newLine };
}

function parseHead(text: string) {
  const [, oldStart, oldCount = "1", newStart, newCount = "1"] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text) ?? [];
  if (oldStart === undefined || newStart === undefined) return undefined;
  const [oldLine, newLine] = [Number(oldStart), Number(newStart)];
  return { oldLine, newLine, oldEnd: oldLine + Number(oldCount), newEnd: newLine + Number(newCount) };
}

/** A side without lines is numbered by the line before it. */
function firstLines({ oldLine, newLine, oldEnd, newEnd }: NonNullable<ReturnType<typeof parseHead>>) {
  return { oldLine: oldEnd > oldLine ? oldLine : oldLine + 1, newLine: newEnd > newLine ? newLine : newLine + 1 };
}
