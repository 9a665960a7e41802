import { shortNames } from "../../resources/short-names/index.ts";

/** The facts about a subject and its decisions. */
export interface Explanation {
  /** For programs. */
  readonly facts: object;
  /** For people: paragraphs of lines. */
  readonly text: readonly (readonly string[])[];
}

/** Paragraphs as lines, with an empty line between two, and with short names. */
export function paragraphLines(paragraphs: Explanation["text"]): readonly string[] {
  return paragraphs.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines])).map(shortNames);
}
