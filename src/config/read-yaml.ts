import { type Document, isAlias, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { syntaxProblem } from "../schema/index.ts";
import { findSetting, type NamedSetting, settingsBelow } from "./schema.ts";
import { notASection, unknownKey } from "./yaml-problems.ts";

export interface YamlFile {
  /** For messages, and for paths in the file, which are relative to it. Nothing is read from here. */
  readonly path: string;
  readonly text: string;
}

/** A setting that is written in the file or the environment. */
export interface WrittenValue {
  readonly setting: NamedSetting;
  readonly text: string;
  readonly origin: `file ${string}` | `env ${string}`;
}

export interface YamlReading {
  readonly written: readonly WrittenValue[];
  readonly problems: readonly string[];
  /** False: the file is not YAML, so a setting that was not found may well be in it. */
  readonly readable: boolean;
}

/** The settings in the file, with the line of each. Problems never repeat text that could be a secret. */
export function readYaml({ path, text }: YamlFile): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const originOf = (offset: number) => `file ${path}:${Math.max(1, lines.linePos(offset).line)}` as const;

  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ code, pos }) => `${originOf(pos[0])}: ${syntaxProblem(code)}`);
    return { written: [], problems: [...new Set(problems)], readable: false };
  }

  const findings = readMap(document.contents, "", { document, originOf });
  return {
    written: mergeNamed(findings.filter((finding) => typeof finding !== "string")),
    problems: findings.filter((finding) => typeof finding === "string"),
    readable: true,
  };
}

/** A problem is a sentence. */
type Finding = WrittenValue | string;

interface ParsedFile {
  readonly document: Document;
  originOf(offset: number): WrittenValue["origin"];
}

/** The whole file, where `section` is empty, or the part below one section. */
function readMap(node: unknown, section: string, place: ParsedFile): Finding[] {
  if (isEmpty(node)) return [];
  if (!isMap<Node, Node | null>(node)) return [`${place.originOf(startOf(node))}: ${notASection(section)}`];

  const seen = new Map<string, string>();
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    const origin = place.originOf(startOf(key));
    const before = seen.get(name);
    seen.set(name, origin);

    const path = section ? `${section}.${name}` : name;
    // "locks.ttl: 30s" is one name with a point in it, not two names.
    const content = isAlias(value) ? value.resolve(place.document) : value;
    const setting = name.includes(".") ? undefined : findSetting(path);
    const isSection = settingsBelow(path).some((below) => below.path.startsWith(`${path}.`) || isMap(content));
    if (!setting && !isSection) return [`${origin}: ${unknownKey(name, section)}`];
    if (before) return [`${origin}: ${path} was written before, at ${before}. Keep one of the two.`];

    if (!setting) return readMap(content, path, place);
    return setting.path === path
      ? readValue(setting, content, { origin, place })
      : readNamed(setting, content, { origin, name: section.slice(section.lastIndexOf(".") + 1), place });
  });
}

interface NamedValue {
  readonly origin: WrittenValue["origin"];
  /** Stands for `<name>` in the path of the setting. */
  readonly name: string;
  readonly place: ParsedFile;
}

/** A setting that exists once per name has a structure as its value; its text is JSON with all names. */
function readNamed(setting: NamedSetting, node: unknown, { origin, name, place }: NamedValue): Finding[] {
  if (isEmpty(node)) return [];
  const path = setting.path.replace("<name>", name);
  if (!isMap(node)) return [`${origin}: ${path} is not a structure. Write ${setting.kind.expects}.`];
  const text = toJson(node, place);
  if (text === undefined) return [`${origin}: ${path} ${badAlias}`];
  return [{ setting, text: `{${JSON.stringify(name)}: ${text}}`, origin }];
}

/** One setting for all names. */
function mergeNamed(written: readonly WrittenValue[]): readonly WrittenValue[] {
  const isNamed = ({ setting }: WrittenValue) => setting.path.includes("<name>");
  const named = written.filter(isNamed);
  const [first] = named;
  if (!first) return written;
  const all = Object.fromEntries(named.flatMap(({ text }) => Object.entries(JSON.parse(text) as object)));
  return [...written.filter((one) => !isNamed(one)), { ...first, text: JSON.stringify(all) }];
}

function readValue(
  setting: NamedSetting,
  node: unknown,
  { origin, place }: Pick<NamedValue, "origin" | "place">,
): Finding[] {
  if (isEmpty(node)) return [];
  if (setting.kind.isStructure) {
    const text = toJson(node, place);
    return [text === undefined ? `${origin}: ${setting.path} ${badAlias}` : { setting, text, origin }];
  }
  if (!isScalar(node)) return [`${origin}: ${setting.path} is not a single value. Write ${setting.kind.expects}.`];
  // `source` is the text as written: a namespace called 007 stays 007.
  return [{ setting, text: node.source ?? String(node.value), origin }];
}

const badAlias = "has an alias that cannot be resolved. Write the value itself.";

/** The text of a structure. Undefined if an alias in it names no anchor, contains itself, or stands for too much. */
function toJson(node: unknown, { document }: ParsedFile): string | undefined {
  try {
    return isNode(node) ? JSON.stringify(node.toJS(document)) : undefined;
  } catch {
    return undefined;
  }
}

/** A name without a value counts as not written; templates leave such lines. */
function isEmpty(node: unknown): boolean {
  return node === null || (isScalar(node) && (node.value === null || node.value === ""));
}

function startOf(node: unknown): number {
  return (node as Partial<Node> | undefined)?.range?.[0] ?? 0;
}
