import { isNode, LineCounter, parseDocument } from "yaml";

/** A file that a person wrote: what is wrong with it is told with its line. */
export interface TextFile {
  /** For people only; nothing is read from it. */
  readonly path: string;
  readonly text: string;
}

export type YamlReading =
  | { readonly kind: "valid"; readonly value: unknown; readonly at: (place: YamlPlace) => string }
  /** `file:line: problem`, everything at once. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** The way from the top of a document to something in it. */
export type YamlPlace = readonly (string | number)[];

/** One document, and where in the file each part of it is. */
export function readYamlFile({ path, text }: TextFile): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => `${path}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ pos, code }) => `${lineAt(pos[0])}: is not valid YAML (${code})`);
    return { kind: "invalid", problems: [...new Set(problems)] };
  }
  return { kind: "valid", value: document.toJS(), at };

  /** `file:line` of what `place` names, or of the nearest thing above it that is there. */
  function at(place: YamlPlace): string {
    for (let depth = place.length; depth > 0; depth--) {
      const node = document.getIn(place.slice(0, depth), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return `${path}:1`;
  }
}
