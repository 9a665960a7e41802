import { readFileSync } from "node:fs";

export interface NamedTest {
  /** From the root of the repository. */
  readonly file: string;
  readonly title: string;
}

const root = new URL("../../", import.meta.url);

export function readPage(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

/** The tests that a text names as `file` "title". */
export function namedTests(text: string): readonly NamedTest[] {
  const names = text.matchAll(/`([^`]+\.(?:test|proof|contract)\.ts)` "([^"]+)"/g);
  return [...names].map(([, file = "", title = ""]) => ({ file, title }));
}

/**
 * The titles of the tests in a file: of `it`, of what `it.each` returns and of the rows of its table, and the names of the
 * cases of a contract. `it.skip` does not count.
 */
export function testTitles(file: string): readonly string[] {
  const declared = /(?:\bit\(|\)\(|\[|\bname:)\s*"([^"]+)"/g;
  return [...readPage(file).matchAll(declared)].map(([, title = ""]) => title);
}
