import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { maxYamlDepth, yamlDepth } from "../kube/index.ts";
import { parse, type Wire, type z } from "../schema/index.ts";

/** Of a file with rules, workflows or tests. Reading YAML takes about a second per megabyte. */
export const maxYamlLength = 1_024 * 1_024;

/** How often one file may use its anchors: enough for shared defaults, too few for a bomb. */
export const maxAliases = 100;

/** A file that a person wrote: problems are reported with their line. */
export interface TextFile {
  /** For people only; nothing is read from it. */
  readonly path: string;
  readonly text: string;
}

export type YamlReading<T = unknown> =
  | { readonly kind: "valid"; readonly value: T; readonly at: (place: YamlPlace) => string }
  /** `file:line: problem`, everything at once. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** The way from the top of a document to something in it. */
export type YamlPlace = readonly (string | number)[];

/** One document, and where in the file each part of it is. */
export function readYamlFile({ path, text }: TextFile): YamlReading {
  if (text.length > maxYamlLength) {
    return { kind: "invalid", problems: [`${path}:1: is larger than ${maxYamlLength} characters; split the file`] };
  }
  if (yamlDepth(text) > maxYamlDepth) return { kind: "invalid", problems: [`${path}:1: is nested too deeply`] };
  const lines = new LineCounter();
  // Duplicate keys are looked for below: the library compares every key with every other one of its map.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const lineAt = (offset: number) => `${path}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ pos, code }) => `${lineAt(pos[0])}: is not valid YAML (${code})`);
    return { kind: "invalid", problems: [...new Set(problems)] };
  }
  const duplicates = duplicateKeys(document);
  if (duplicates.length > 0) {
    const problems = duplicates.map((offset) => `${lineAt(offset)}: is not valid YAML (DUPLICATE_KEY)`);
    return { kind: "invalid", problems: [...new Set(problems)] };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch {
    return { kind: "invalid", problems: [`${path}:1: uses more than ${maxAliases} aliases, or is nested too deeply`] };
  }
  return { kind: "valid", value, at };

  /** `file:line` of what `place` names, or of the nearest thing above it that is there. */
  function at(place: YamlPlace): string {
    for (let depth = place.length; depth > 0; depth--) {
      const node = document.getIn(place.slice(0, depth), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return `${path}:1`;
  }
}

/** Reads a YAML file that has to fit `schema`. Problems are `file:line: path problem`, everything at once. */
export function parseYamlFile<S extends z.ZodType>(file: TextFile, schema: S): YamlReading<Wire<S>> {
  const yaml = readYamlFile(file);
  if (yaml.kind === "invalid") return yaml;
  const parsed = parse(schema, yaml.value);
  if (parsed.kind === "valid") return { ...yaml, value: parsed.value };
  const problems = parsed.problems.map(({ keys, path, wrong }) => `${yaml.at(keys)}: ${path || "the file"} ${wrong}`);
  return { kind: "invalid", problems };
}

/** Where a key of a map is written a second time. */
export function duplicateKeys(document: Document): readonly number[] {
  const offsets: number[] = [];
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        keys.add(key.value);
      }
    },
  });
  return offsets;
}
