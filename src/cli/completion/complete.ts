import type { Command } from "commander";
import { toPrintable } from "../../telemetry/index.ts";
import type { ServerContext } from "../command.ts";
import type { CommandContext, Contexts } from "../context.ts";
import { type Candidate, type Completion, type FilterLookup, findCompletion, type Lookup } from "./find-completion.ts";

type NameLookup = Exclude<Lookup, FilterLookup | "contexts" | "files">;

function isFilterLookup(lookup: Lookup): lookup is FilterLookup {
  return / of /.test(lookup);
}

/** How long a shell waits for names. */
const timeoutMs = 2_000;

/** `interlock __complete`: prints the candidates for the last of `args`. Names that cannot be looked up in time are left out. */
export async function complete(program: Command, args: readonly string[], contexts: Contexts): Promise<number> {
  const completion = findCompletion(program, args);
  return contexts.withCommandContext(completion.server, async (context) => {
    const found = await lookUpAll(completion, context, contexts);
    for (const line of candidateLines(completion, [...completion.candidates, ...found]))
      context.terminal.printOutput(line);
    return 0;
  });
}

async function lookUpAll(
  { lookups, server }: Completion,
  context: CommandContext,
  { withServerContext }: Contexts,
): Promise<readonly Candidate[]> {
  if (lookups.length === 0) return [];
  const { lookUp, lookUpContexts, lookUpFilter } = await import("./look-up.ts");
  const found: Candidate[] = lookups.filter(isFilterLookup).flatMap(lookUpFilter);
  const offer = async (candidates: Promise<readonly Candidate[]>) => {
    for (const candidate of await candidates) found.push(candidate);
  };
  const names = lookups.filter(
    (lookup) => lookup !== "contexts" && lookup !== "files" && !isFilterLookup(lookup),
  ) as readonly NameLookup[];
  const all = [
    ...(lookups.includes("contexts") ? [offer(lookUpContexts(server, context))] : []),
    ...(names.length > 0 ? [withServerContext(server, lookUpNames)] : []),
  ];
  const late = new Promise<void>((resolve) => context.clock.after(timeoutMs, resolve));
  // A shell cannot show an error: it shows the candidates found so far.
  await Promise.race([Promise.allSettled(all), late]);
  return found;

  async function lookUpNames({ client, namespace }: ServerContext): Promise<number> {
    const searched = { client, namespace: server.namespace ?? namespace };
    await Promise.allSettled(names.map((lookup) => offer(lookUp(lookup, searched))));
    return 0;
  }
}

/** Directives for the shell, as in programs built with cobra, such as kubectl. */
const directives = { mayBeFile: ":0", isNoFile: ":4" };

/**
 * The response to a shell: a line for each candidate, with a tab before its description, and the directive last. A candidate that a
 * shell would have to quote is left out: it may be the name of an object that another user has created.
 */
export function candidateLines({ text, prefix, lookups }: Completion, found: readonly Candidate[]): readonly string[] {
  const fitting = found.filter((one) => one.text.startsWith(text) && /^[\w.:/@=!,+-]+$/.test(one.text));
  const lines = fitting.map((one) => {
    const [summary = ""] = toPrintable(one.description ?? "").split(/[.;:] /);
    return `${prefix}${one.text}${summary === "" ? "" : `\t${summary}`}`;
  });
  return [...new Set(lines), lookups.includes("files") ? directives.mayBeFile : directives.isNoFile];
}
