import { stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeDirectory } from "../../../disk/index.ts";
import { CommandError } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import type { Terminal } from "../../output/terminal.ts";
import { type Choices, channels, defaultChoices, readAnswer, sources, targetKinds } from "./choices.ts";
import { type ScaffoldFile, sampleAlertFile, scaffold, settingsFile } from "./scaffold.ts";

interface InitOptions extends Partial<Choices> {
  readonly force?: boolean;
}

/** `interlock init` */
export async function init(
  { terminal }: CommandContext,
  directory: string | undefined,
  options: InitOptions,
): Promise<void> {
  const folder = directory ?? ".";
  // Checked before the questions, whose answers would be lost.
  if (!options.force) await refuseToOverwrite(folder, scaffold(defaultChoices));
  const choices = await choose(options, terminal);
  for (const file of scaffold(choices)) {
    await write(folder, file, options);
    terminal.print(`wrote ${join(folder, file.path)}`);
  }
  for (const line of nextSteps(folder, choices)) terminal.print(line);
}

async function choose({ source, kind, notify }: InitOptions, terminal: Terminal): Promise<Choices> {
  const kinds = Object.fromEntries(Object.entries(targetKinds).map(([name, { about }]) => [name, about]));
  return {
    source: source ?? (await ask("Where do alerts come from?", sources, defaultChoices.source, terminal)),
    kind:
      kind ??
      (await ask<Choices["kind"]>("Which kind of object is remediated first?", kinds, defaultChoices.kind, terminal)),
    notify: notify ?? (await ask("Where do notices go?", channels, defaultChoices.notify, terminal)),
  };
}

/** Without a terminal, the default. */
async function ask<Name extends string>(
  question: string,
  options: Readonly<Record<string, string>>,
  fallback: Name,
  terminal: Terminal,
): Promise<Name> {
  if (!terminal.ask) return fallback;
  const names = Object.keys(options) as Name[];
  terminal.print(question);
  for (const [i, name] of names.entries()) terminal.print(`  ${i + 1}  ${name.padEnd(22)} ${options[name]}`);
  for (;;) {
    const answer = await terminal.ask(`Number or name [${fallback}]: `, new AbortController().signal);
    if (answer === undefined) throw new CommandError("interrupted; nothing was written");
    const chosen = readAnswer(answer, names, fallback);
    if (chosen !== undefined) return chosen;
    terminal.print(`"${answer.trim()}" is none of ${names.join(", ")}`);
  }
}

async function refuseToOverwrite(folder: string, files: readonly ScaffoldFile[]): Promise<void> {
  const existing: string[] = [];
  for (const { path } of files) {
    if (await stat(join(folder, path)).catch(() => undefined)) existing.push(join(folder, path));
  }
  if (existing.length === 0) return;
  throw new CommandError("nothing was written, because these files exist; replace them with --force:", existing);
}

async function write(folder: string, { path, text }: ScaffoldFile, { force }: InitOptions): Promise<void> {
  const file = join(folder, path);
  try {
    await makeDirectory(dirname(file));
    await writeFile(file, text, { flag: force ? "w" : "wx" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`${file} cannot be written (${code}); name another folder`);
  }
}

function nextSteps(folder: string, { source }: Choices): readonly string[] {
  const config = `--config ${join(folder, settingsFile)}`;
  const data = `--data ${join(folder, ".data")}`;
  return [
    "",
    "Next:",
    "",
    `  interlock policy test ${config}`,
    `  interlock up ${config} ${data}`,
    `  interlock receive ${source} -p ${join(folder, sampleAlertFile)} ${data}    (in a second terminal)`,
  ];
}
