import type { Command } from "commander";
import { exitStatuses } from "../src/cli/command.ts";
import { createProgram } from "../src/cli/program.ts";
import { fillMarkers } from "./fill-markers.ts";

/** docs/cli.md with the exit statuses and the commands as the code declares them. */
export function cliPage(page: string): string {
  return fillMarkers(
    page,
    new Map([
      ["exit status", exitTable()],
      ["commands", commandSections().join("\n")],
    ]),
  );
}

function exitTable(): string {
  const rows = Object.values(exitStatuses).map(({ status, meaning }) => `| ${status} | ${meaning} |`);
  return ["| status | meaning |", "|---|---|", ...rows, ""].join("\n");
}

function commandSections(): readonly string[] {
  const unused = () => Promise.reject(new TypeError("a page performs no command"));
  const program = createProgram({ withCommandContext: unused, withServerContext: unused }, () => {});
  return program.commands.flatMap(sections);
}

function sections(command: Command): readonly string[] {
  return [section(command), ...command.commands.flatMap(sections)];
}

function section(command: Command): string {
  const help = command.createHelp();
  const path = help.commandUsage(command);
  const options = command.options.filter(({ hidden }) => !hidden);
  const rows = options.map((option) => `| \`${cell(option.flags)}\` | ${cell(help.optionDescription(option))} |`);
  const table = rows.length === 0 ? [] : ["", "| option | meaning |", "|---|---|", ...rows];
  const [example] = /For example:\n {2}.*/.exec(helpText(command)) ?? [];
  const shown = example?.replace("For example:\n  ", "") ?? "";
  const title = path.replace(/ \[options\].*$/, "");
  const heading = command.parent?.parent ? "####" : "###";
  return [
    `${heading} ${title}`,
    "",
    code(path),
    "",
    command.description(),
    ...table,
    "",
    "For example:",
    "",
    code(shown),
    "",
  ].join("\n");
}

function code(line: string): string {
  return ["```text", line, "```"].join("\n");
}

/** A vertical bar would begin the next cell. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

/** The whole help, with the text behind the options. */
function helpText(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (more) => {
      text += more;
    },
  });
  command.outputHelp();
  return text;
}
