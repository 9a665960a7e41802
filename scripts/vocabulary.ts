import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import ts from "typescript";
import { trackedFiles } from "./tracked-files.ts";

// npm run check runs this: one meaning per type name, and no word in texts that a reader stumbles over.

/** The types that every controller folder declares for itself; docs/house-style.md, section 11. */
const roleNames = new Set(["Snapshot", "Caches", "Deps", "Decision", "Action"]);

/** A name that is declared in more folders than this means several things. */
const maxFolders = 2;

/** Words that name no actor, or that give code a will; docs/house-style.md, section 11, has the ones to use instead. */
const forbidden = /\b(somebody|anybody|nobody|everybody|whoever|whomever)('s)?\b/gi;

/** Pages that quote the words, or that record the past. */
const exceptions = new Set(["docs/house-style.md", "CHANGELOG.md"]);

const problems: string[] = [];
const folders = new Map<string, Set<string>>();

for (const path of [...trackedFiles("src"), ...trackedFiles("web")].filter(isProductionCode)) {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  // The web app is a program of its own: its names are its own, too.
  for (const name of path.startsWith("src/") ? declaredTypes(file) : []) {
    const known = folders.get(name) ?? new Set();
    folders.set(name, known.add(dirname(path)));
  }
  for (const { text, line } of stringsIn(file)) report(path, line, text);
}

for (const path of trackedFiles(".").filter((path) => path.endsWith(".md") && !exceptions.has(path))) {
  for (const [index, text] of readFileSync(path, "utf8").split("\n").entries()) report(path, index + 1, text);
}

for (const [name, where] of folders) {
  if (where.size <= maxFolders || roleNames.has(name)) continue;
  problems.push(`type ${name} is declared in ${where.size} folders (${[...where].join(", ")}); give each its own name`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${folders.size} type names, each with one meaning; no forbidden word in strings and pages`);

function isProductionCode(path: string): boolean {
  return /\.tsx?$/.test(path) && !/\.(test|contract|proof)\.ts$/.test(path);
}

function* declaredTypes(file: ts.SourceFile): Generator<string> {
  for (const statement of file.statements) {
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    if (isType || (ts.isClassDeclaration(statement) && statement.name)) yield statement.name?.text ?? "";
  }
}

function stringsIn(file: ts.SourceFile): readonly { readonly text: string; readonly line: number }[] {
  const found: { text: string; line: number }[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText || ts.isJsxText(node))
      found.push({ text: node.text, line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1 });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function report(path: string, line: number, text: string): void {
  for (const [word] of text.matchAll(forbidden))
    problems.push(`${path}:${line} says "${word}"; name the actor, see docs/house-style.md section 11`);
}
