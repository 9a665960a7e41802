import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import ts from "typescript";
import { trackedFiles } from "./tracked-files.ts";

// npm run check runs this: one meaning per type name, and no word in texts and comments that a reader stumbles over.

/** The types that every controller folder declares for itself; docs/house-style.md, section 11. */
const roleNames = new Set(["Snapshot", "Caches", "Deps", "Decision", "Action"]);

/** A name that is declared in more folders than this means several things. */
const maxFolders = 2;

interface Forbidden {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Words that name no actor; forbidden in comments, too. */
const indefinitePersons: Forbidden = {
  pattern: /\b(somebody|anybody|nobody|everybody|someone|anyone|everyone|whoever|whomever)('s)?\b/gi,
  instead: "name the actor",
};

/** Phrases of docs/house-style.md, section 11, that are forbidden in strings and pages. */
const forbiddenInTexts: readonly Forbidden[] = [
  indefinitePersons,
  { pattern: /\b(is|are|was|were|be|been|being) told\b/gi, instead: "write notified, logged or recorded" },
  { pattern: /\btells? (us|you|them)\b/gi, instead: "write returns, reports or prints" },
  { pattern: /\bbefalls?\b|\bbefallen\b|\bbefell\b/gi, instead: "write happens to" },
  { pattern: /\bso that one (that|who)\b/gi, instead: "write two sentences" },
  { pattern: /\btakes? (\S+ ){1,4}no more\b/gi, instead: "write rejects" },
  { pattern: /\b(to|be|been|is|are) put right\b/gi, instead: "write fix or correct" },
  { pattern: /\bin vain\b/gi, instead: "write without success" },
  { pattern: /\bstands? still\b/gi, instead: "write is paused or stops" },
  { pattern: /\bgo(es)? on (all the same|as if)\b/gi, instead: "write continues" },
];

/** Verbs of persons, which programs and files are not; forbidden in comments and in the titles of tests. */
const forbiddenInProse: readonly Forbidden[] = [
  indefinitePersons,
  { pattern: /\b(tells?|told)\b(?! apart)/gi, instead: "write reports, sends or returns" },
  { pattern: /\b(says|said)\b/gi, instead: "write prints, names, states or contains" },
  { pattern: /\b(hears?|heard)\b/gi, instead: "write receives or reads" },
  { pattern: /\b(believes?|believed)\b/gi, instead: "write assumes" },
  { pattern: /\ball the same\b/gi, instead: "write anyway" },
];

/** Pages that quote the words, or that record the past. */
const exceptions = new Set(["docs/house-style.md", "CHANGELOG.md"]);

interface Text {
  readonly text: string;
  readonly line: number;
}

const problems: string[] = [];
const folders = new Map<string, Set<string>>();

for (const path of ["src", "web", "scripts", "test", "bench", "examples"].flatMap(trackedFiles).filter(isTypeScript)) {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  const literals = literalsIn(file);
  for (const comment of commentsIn(file, literals)) report(path, comment, forbiddenInProse);
  // The data of a test may contain any word, for it plays the part of what comes from outside.
  const texts = isProductionCode(path) ? literals : literals.filter(isTitle);
  for (const literal of texts)
    report(path, toText(literal, file), isTitle(literal) ? forbiddenInProse : forbiddenInTexts);
  // The web app is a program of its own: its names are its own, too.
  for (const name of path.startsWith("src/") && isProductionCode(path) ? declaredTypes(file) : []) {
    const known = folders.get(name) ?? new Set();
    folders.set(name, known.add(dirname(path)));
  }
}

for (const path of trackedFiles(".").filter((path) => path.endsWith(".md") && !exceptions.has(path))) {
  for (const [index, text] of readFileSync(path, "utf8").split("\n").entries())
    report(path, { text, line: index + 1 }, forbiddenInTexts);
}

for (const [name, where] of folders) {
  if (where.size <= maxFolders || roleNames.has(name)) continue;
  problems.push(`type ${name} is declared in ${where.size} folders (${[...where].join(", ")}); give each its own name`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${folders.size} type names, each with one meaning; no forbidden word in strings, comments and pages`);

function isTypeScript(path: string): boolean {
  return /\.tsx?$/.test(path);
}

function isProductionCode(path: string): boolean {
  return /^(src|web)\//.test(path) && !/\.(test|contract|proof)\.ts$/.test(path);
}

/** Whether a literal is the title of a test or of a group of tests. */
function isTitle(literal: Literal): boolean {
  const call = literal.parent;
  if (!ts.isCallExpression(call) || call.arguments[0]?.pos !== literal.pos) return false;
  // `it(…)`, `it.each(…)(…)`, `describe.skipIf(…)(…)`
  return /^(it|test|describe)\b/.test(call.expression.getText());
}

function* declaredTypes(file: ts.SourceFile): Generator<string> {
  for (const statement of file.statements) {
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    if (isType || (ts.isClassDeclaration(statement) && statement.name)) yield statement.name?.text ?? "";
  }
}

type Literal = ts.LiteralLikeNode | ts.JsxText;

/** Everything between quotes, backticks, slashes and tags. */
function literalsIn(file: ts.SourceFile): readonly Literal[] {
  const found: Literal[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText || ts.isJsxText(node) || ts.isRegularExpressionLiteral(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function toText(literal: Literal, file: ts.SourceFile): Text {
  return { text: literal.text, line: lineAt(file, literal.getStart(file)) };
}

/** What looks like a comment within a literal is none. */
function* commentsIn(file: ts.SourceFile, literals: readonly Literal[]): Generator<Text> {
  let code = file.text;
  for (const literal of literals) {
    const [start, end] = [literal.getStart(file), literal.getEnd()];
    code = code.slice(0, start) + " ".repeat(end - start) + code.slice(end);
  }
  for (const { 0: text, index } of code.matchAll(/\/\/.*|\/\*[\s\S]*?\*\//g)) yield { text, line: lineAt(file, index) };
}

function lineAt(file: ts.SourceFile, position: number): number {
  return file.getLineAndCharacterOfPosition(position).line + 1;
}

/** Names between backticks are quoted, such as the user `nobody`. */
function report(path: string, { text, line }: Text, forbidden: readonly Forbidden[]): void {
  for (const { pattern, instead } of forbidden)
    for (const [words] of text.replace(/`[^`\n]*`/g, "").matchAll(pattern))
      problems.push(`${path}:${line}: forbidden "${words}"; ${instead}, see docs/house-style.md section 11`);
}
