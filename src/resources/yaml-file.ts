import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { maxYamlDepth, yamlDepth } from "../kube/index.ts";
import { parse, syntaxProblem, type Wire, type z } from "../schema/index.ts";

/** In characters, of a file with rules, workflows or tests. Reading YAML takes about a second per megabyte. */
export const maxYamlLength = 1_024 * 1_024;

/** The maximum number of aliases in a file: enough for shared defaults, too few for an exponential expansion. */
export const maxAliases = 100;

/** A file that a person wrote: problems are reported with their line. */
export interface TextFile {
  /** For display; the file is not read. */
  readonly path: string;
  readonly text: string;
}

export type YamlReading<T = unknown> =
  | { readonly kind: "valid"; readonly value: T; readonly at: (place: YamlPlace) => string }
  /** `file:line: problem`, all of them. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** The path from the top of a document to a node. */
type YamlPlace = readonly (string | number)[];

/** Reads one document, with the line of each of its parts. */
export function readYamlFile({ path, text }: TextFile): YamlReading {
  if (text.length > maxYamlLength) {
    return { kind: "invalid", problems: [`${path}:1: is larger than ${maxYamlLength} characters; split the file`] };
  }
  if (yamlDepth(text) > maxYamlDepth) return { kind: "invalid", problems: [`${path}:1: is nested too deeply`] };
  const lines = new LineCounter();
  // Duplicate keys are found below: the library compares each key with every other one of its map.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const lineAt = (offset: number) => `${path}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ pos, code }) => `${lineAt(pos[0])}: ${syntaxProblem(code)}`);
    return { kind: "invalid", problems: [...new Set(problems)] };
  }
  const duplicates = duplicateKeys(document);
  if (duplicates.length > 0) {
    const problems = duplicates.map((offset) => `${lineAt(offset)}: ${syntaxProblem("DUPLICATE_KEY")}`);
    return { kind: "invalid", problems: [...new Set(problems)] };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch {
    return { kind: "invalid", problems: [`${path}:1: uses more than ${maxAliases} aliases, or is nested too deeply`] };
  }
  return { kind: "valid", value, at };

  /** `file:line` of the node at `place`, or of the nearest existing node above it. */
  function at(place: YamlPlace): string {
    for (let depth = place.length; depth > 0; depth--) {
      const node = document.getIn(place.slice(0, depth), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return `${path}:1`;
  }
}

/** Reads a YAML file that must fit `schema`. Problems are `file:line: path problem`, all of them. */
export function parseYamlFile<S extends z.ZodType>(file: TextFile, schema: S): YamlReading<Wire<S>> {
  const yaml = readYamlFile(file);
  if (yaml.kind === "invalid") return yaml;
  const parsed = parse(schema, yaml.value);
  if (parsed.kind === "valid") return { ...yaml, value: parsed.value };
  const problems = parsed.problems.map(({ keys, path, wrong }) => `${yaml.at(keys)}: ${path || "the file"} ${wrong}`);
  return { kind: "invalid", problems };
}

/** The offsets of repeated keys in maps. */
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
