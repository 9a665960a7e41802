import { shortNames } from "../../resources/short-names/index.ts";

/** The facts about a subject and its decisions. */
export interface Explanation {
  /** For programs. */
  readonly facts: object;
  /** For operators: paragraphs of lines. */
  readonly text: readonly (readonly string[])[];
}

/** The lines of all paragraphs, with an empty line between two paragraphs, and with short names. */
export function paragraphLines(paragraphs: Explanation["text"]): readonly string[] {
  return paragraphs.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines])).map(shortNames);
}
