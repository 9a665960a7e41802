import { toPrintable } from "../../telemetry/index.ts";
import type { Completion, Word } from "./find-completion.ts";

/** How the shell goes on, as programs built with cobra tell it, kubectl among them. */
const directives = { mayBeFile: ":0", isNoFile: ":4" };

/**
 * The answer to a shell: a line for each candidate, with a tab before its description, and the directive last. A candidate that a
 * shell would have to quote is left out: it is the name of an object that another user may have made.
 */
export function candidateLines({ text, prefix, lookups }: Completion, found: readonly Word[]): readonly string[] {
  const fitting = found.filter((word) => word.text.startsWith(text) && /^[\w.:/@=!,+-]+$/.test(word.text));
  const lines = fitting.map((word) => {
    const [summary = ""] = toPrintable(word.description ?? "").split(/[.;:] /);
    return `${prefix}${word.text}${summary === "" ? "" : `\t${summary}`}`;
  });
  return [...new Set(lines), lookups.includes("files") ? directives.mayBeFile : directives.isNoFile];
}
