import type { Command } from "commander";
import { toPrintable } from "../../telemetry/index.ts";
import type { Desk } from "../command.ts";
import type { CommandContext, Environments } from "../context.ts";
import { type Completion, type FilterLookup, findCompletion, type Lookup, type Word } from "./find-completion.ts";

type NameLookup = Exclude<Lookup, FilterLookup | "contexts" | "files">;

function isFilterLookup(lookup: Lookup): lookup is FilterLookup {
  return / of /.test(lookup);
}

/** How long a shell waits for names. */
const patienceMs = 2_000;

/** `interlock __complete`: prints what the last of `words` may become. Names that cannot be looked up in time are left out. */
export async function complete(
  program: Command,
  words: readonly string[],
  environments: Environments,
): Promise<number | undefined> {
  const completion = findCompletion(program, words);
  return environments.inContext(completion.server, async (context) => {
    const found = await lookUpAll(completion, context, environments);
    for (const line of candidateLines(completion, [...completion.words, ...found])) context.terminal.printOutput(line);
    return 0;
  });
}

async function lookUpAll(
  { lookups, server }: Completion,
  context: CommandContext,
  { atDesk }: Environments,
): Promise<readonly Word[]> {
  if (lookups.length === 0) return [];
  const { lookUp, lookUpContexts, lookUpFilter } = await import("./look-up.ts");
  const found: Word[] = lookups.filter(isFilterLookup).flatMap(lookUpFilter);
  const offer = async (words: Promise<readonly Word[]>) => void found.push(...(await words));
  const names = lookups.filter(
    (lookup) => lookup !== "contexts" && lookup !== "files" && !isFilterLookup(lookup),
  ) as readonly NameLookup[];
  const all = [
    ...(lookups.includes("contexts") ? [offer(lookUpContexts(server, context))] : []),
    ...(names.length > 0 ? [atDesk(server, lookUpNames)] : []),
  ];
  const late = new Promise<void>((resolve) => context.clock.after(patienceMs, resolve));
  // A shell has no place for an error: it shows the words that are known.
  await Promise.race([Promise.allSettled(all), late]);
  return found;

  async function lookUpNames({ client, namespace }: Desk): Promise<number> {
    const searched = { client, namespace: server.namespace ?? namespace };
    await Promise.allSettled(names.map((lookup) => offer(lookUp(lookup, searched))));
    return 0;
  }
}

/** Directives for the shell, as in programs built with cobra, such as kubectl. */
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
