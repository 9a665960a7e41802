import { inflateSync } from "node:zlib";
import { findViolation, refuse, refuseSize, type TreeChange } from "./tree-change.ts";
import type { Patch, PatchLimits, PatchReading } from "./workshop.ts";

export type ParsedPatch =
  | { readonly kind: "patch"; readonly changes: readonly TreeChange[]; readonly added: readonly AddedContent[] }
  | { readonly kind: "problem"; readonly problem: string };

/** The content that a patch adds to one file. */
export interface AddedContent {
  readonly path: string;
  /** Added lines, or the new content of a binary file; each character is a byte. */
  readonly text: string;
}

class Unreadable extends Error {}

/**
 * Parses a patch of `git diff --binary --full-index --no-renames`. The parser is strict: input that git would skip,
 * guess or tolerate is a problem, so git cannot find a change that the parser missed.
 */
export function parsePatch(bytes: Uint8Array): ParsedPatch {
  const lines = new Lines(bytes);
  const changes = new Map<string, TreeChange>();
  const added: AddedContent[] = [];
  try {
    while (!lines.atEnd) {
      const { change, text } = parseFile(lines);
      if (changes.has(change.path)) throw new Unreadable(`${JSON.stringify(change.path)} appears twice`);
      changes.set(change.path, change);
      added.push({ path: change.path, text });
    }
    return { kind: "patch", changes: [...changes.values()], added };
  } catch (error) {
    if (error instanceof Unreadable) return { kind: "problem", problem: `line ${lines.number}: ${error.message}` };
    throw error;
  }
}

/** The lines of a patch, each character a byte. */
class Lines {
  number = 0;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The next line, if it matches. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    if (this.atEnd) return undefined;
    const end = this.#bytes.indexOf(10, this.#at);
    if (end < 0) throw new Unreadable("it ends within a line");
    const match = pattern.exec(this.#bytes.toString("latin1", this.#at, end));
    if (!match) return undefined;
    this.#at = end + 1;
    this.number++;
    return match;
  }

  expect(pattern: RegExp, what: string): RegExpExecArray {
    const match = this.take(pattern);
    if (!match) throw new Unreadable(`${what} was expected`);
    return match;
  }
}

function parseFile(lines: Lines): { readonly change: TreeChange; readonly text: string } {
  const [, names = ""] = lines.expect(/^diff --git (.*)$/s, "the head of a file");
  const path = parsePath(names);
  const modes = parseModes(lines);
  const index = lines.take(/^index ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})(?: (\d{6}))?$/);
  const change = toChange(path, modes, index?.[3]);
  if (!index) return { change, text: "" };

  if (lines.take(/^GIT binary patch$/)) return { change, text: parseBinary(lines) };
  // An empty file has no hunks and no names above them.
  return { change, text: lines.take(/^--- .*$/s) ? parseText(lines) : "" };
}

interface Modes {
  readonly old?: string | undefined;
  readonly new?: string | undefined;
  readonly created?: string | undefined;
  readonly deleted?: string | undefined;
}

function parseModes(lines: Lines): Modes {
  const old = lines.take(/^old mode (\d{6})$/)?.[1];
  if (old) return { old, new: lines.expect(/^new mode (\d{6})$/, "the new mode")[1] };
  const created = lines.take(/^new file mode (\d{6})$/)?.[1];
  if (created) return { created };
  return { deleted: lines.take(/^deleted file mode (\d{6})$/)?.[1] };
}

function toChange(path: string, modes: Modes, kept: string | undefined): TreeChange {
  if (modes.created) return { path, oldMode: undefined, newMode: modes.created };
  if (modes.deleted) return { path, oldMode: modes.deleted, newMode: undefined };
  if (modes.old) return { path, oldMode: modes.old, newMode: modes.new };
  if (!kept) throw new Unreadable(`the mode of ${JSON.stringify(path)} is missing`);
  return { path, oldMode: kept, newMode: kept };
}

/** Returns the path of `a/path b/path`; both must be the same, because nothing is renamed. */
function parsePath(names: string): string {
  const half = (names.length - 1) / 2;
  const [before, after] = [names.slice(0, half), names.slice(half + 1)].map(unquote);
  if (before?.startsWith("a/") && after?.startsWith("b/") && before.slice(2) === after.slice(2)) {
    return Buffer.from(before.slice(2), "latin1").toString();
  }
  throw new Unreadable("the file has two names; a patch without renames was expected");
}

const escapes: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r", '"': '"', "\\": "\\" },
};

function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  if (!/^"(?:[^"\\]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*"$/.test(name)) throw new Unreadable("a name is quoted badly");
  return name.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, code: string) => {
    return escapes[code] ?? String.fromCharCode(Number.parseInt(code, 8));
  });
}

/** Returns the added content: a delta contains the new bytes literally. */
function parseBinary(lines: Lines): string {
  // The forward and the reverse change.
  const [forward] = [0, 1].map(() => {
    lines.expect(/^(literal|delta) \d+$/, "a binary change");
    const coded: string[] = [];
    for (let line = lines.take(codedLine); line; line = lines.take(codedLine)) coded.push(line[0]);
    lines.expect(/^$/, "the end of a binary change");
    return coded;
  });
  const content = inflate(forward ?? []);
  if (content === undefined) throw new Unreadable("a binary change cannot be unpacked");
  return content.toString("latin1");
}

const codedLine = /^[A-Za-z][!-~]+$/;

/** Returns the added lines. */
function parseText(lines: Lines): string {
  lines.expect(/^\+\+\+ .*$/s, "the new name of the file");
  const hunks: string[] = [];
  for (let head = nextHunk(lines); head; head = nextHunk(lines)) {
    hunks.push(parseHunk(lines, Number(head[1] ?? 1), Number(head[2] ?? 1)));
  }
  if (hunks.length === 0) throw new Unreadable("a change was expected");
  return hunks.join("");
}

function nextHunk(lines: Lines): RegExpExecArray | undefined {
  return lines.take(/^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*$/s);
}

function parseHunk(lines: Lines, oldLines: number, newLines: number): string {
  let [before, after] = [oldLines, newLines];
  const added: string[] = [];
  while (before > 0 || after > 0) {
    const [line] = lines.expect(/^[ +-].*$/s, "a line of the change");
    if (line[0] !== "+") before--;
    if (line[0] !== "-") after--;
    if (before < 0 || after < 0) throw new Unreadable("the change has more lines than its header");
    if (line[0] === "+") added.push(`${line.slice(1)}\n`);
    lines.take(/^\\ No newline at end of file$/);
  }
  return added.join("");
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const maxBytes = 100_000_000;

/**
 * Decodes a binary change of git: lines in base 85, each starting with its length, compressed. Undefined: it is invalid
 * or too large.
 */
function inflate(lines: readonly string[]): Buffer | undefined {
  try {
    return inflateSync(Buffer.concat(lines.map(decodeLine)), { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}

function decodeLine(line: string): Buffer {
  const first = line.charCodeAt(0);
  // A to Z are 1 to 26, a to z are 27 to 52.
  const length = first >= 97 ? first - 97 + 27 : first - 65 + 1;
  const bytes = Buffer.alloc(Math.ceil((line.length - 1) / 5) * 4);
  for (let group = 0; group * 5 + 1 < line.length; group++) {
    let value = 0;
    for (const digit of line.slice(group * 5 + 1, group * 5 + 6)) value = value * 85 + alphabet.indexOf(digit);
    bytes.writeUInt32BE(value, group * 4);
  }
  return bytes.subarray(0, length);
}

/** Checks a patch that was created in another process, by the same rules as a patch that is created here. */
export function checkPatch({ base, bytes }: Omit<Patch, "files">, limits: PatchLimits): PatchReading {
  if (bytes.length === 0) return { kind: "nothing" };
  if (bytes.length > limits.maxBytes) return refuseSize(limits);
  const parsed = parsePatch(bytes);
  if (parsed.kind === "problem") return refuse("Unreadable", `the patch is unreadable: ${parsed.problem}`);
  const refusal = findViolation(parsed.changes, limits);
  return refusal ?? { kind: "patch", patch: { base, bytes, files: parsed.changes.map(({ path }) => path) } };
}
