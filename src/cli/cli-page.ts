import type { Command } from "commander";
import { exitStatuses } from "./command.ts";
import { createProgram } from "./program.ts";

/** docs/cli.md, whole. `npm run docs` writes it; a test fails when the file differs. */
export function cliPage(): string {
  const unused = () => Promise.reject(new TypeError("a page performs no command"));
  const program = createProgram({ withCommandContext: unused, withServerContext: unused }, () => {});
  const commands = program.commands.filter((command) => !command.name().startsWith("__"));
  return [intro, exitTable(), "## Commands\n", ...commands.flatMap(commandSections)].join("\n");
}

const intro = `<!-- Written by \`npm run docs\` from src/cli. Change the declarations of the commands, not this page. -->

# Command line

\`\`\`text
interlock get incidents --phase Blocked --since 2h
interlock why rr-s3rd7pvp-1
interlock get executions -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}'
\`\`\`

Commands follow the conventions of kubectl: \`--context\`, \`-n\`, \`-A\`, \`-o\`, \`-w\`, \`KUBECONFIG\`, several names, and names with their
kind before them (\`incident/rr-s3rd7pvp-1\`). Without \`-n\`, a command searches all namespaces. The options that name a server may
stand before the command. A value that begins with \`--\` is joined to its option: \`--reason=--force\`.

**Names** that contain a hash are printed short, and every command accepts them so, with at least four characters of the hash.
\`interlock get incidents rr-s3rd7pvp-1 -o name\` prints the name that kubectl accepts, and every command accepts that one, too.

**Output** is a table on standard output. \`-o json\` and \`-o yaml\` print one object for one name, and else a \`List\`, as kubectl does. Of
JSONPath, \`-o jsonpath\` accepts fields, indexes, \`*\` and filters such as \`[?(@.type=="Stalled")]\`, with \`{range}\` and \`{end}\`;
anything else is refused. Notes such as "there are no incidents" go to standard error.

**Filters** of \`interlock get\` are \`--phase\`, \`--reason\`, \`--target\` and \`--since\` (the time of creation). A phase or reason that the kind
does not have is refused, with the nearest one.

**Colours** are used on a terminal, unless \`NO_COLOR\` is set or \`TERM\` is \`dumb\`. \`FORCE_COLOR=1\` uses them in a pipe, too, and
\`FORCE_COLOR=0\` never.

**Completion** of commands, options and names: add one line to the start-up file of the shell.

| shell | line |
|---|---|
| bash | \`source <(interlock completion bash)\` |
| zsh | \`source <(interlock completion zsh)\`, below \`compinit\` |
| fish | \`interlock completion fish \\| source\` |

**As a plugin of kubectl**: a program called \`kubectl-interlock\` in the \`PATH\`, which the package brings, is \`kubectl interlock\`. For
its completion, kubectl runs a program \`kubectl_complete-interlock\` with the two lines \`#!/bin/sh\` and
\`exec kubectl interlock __complete "$@"\`.

## Settings and their precedence

\`interlock config view\` prints each setting with its value and where that comes from; \`--changed\` leaves out the defaults. Secrets are
not printed. For every setting, the first of these that has a value wins:

1. an option of the command, such as \`--context\` or \`--namespace\`
2. a variable of the environment, such as \`INTERLOCK_NAMESPACE\` or \`INTERLOCK_LOCKS_TTL\` ([configuration.md](configuration.md))
3. the settings file: that of \`--config\`, else of \`INTERLOCK_CONFIG\`, else \`interlock.yaml\` in the working directory, else
   \`$XDG_CONFIG_HOME/interlock/config.yaml\`, by default \`~/.config/interlock/config.yaml\`. Only the first one that exists is read. A
   file that was not named and belongs to another user is refused.
4. the default

The kubeconfig is that of \`--kubeconfig\`, else of the setting \`objects.kubeconfig\` (\`INTERLOCK_KUBECONFIG\`), else \`kubeconfig\` in the data
directory (\`--data\`, else \`INTERLOCK_DATA\`, else \`.data\`), which \`up\` and \`api\` write, else the files of \`KUBECONFIG\`, merged as kubectl
merges them, else \`~/.kube/config\`. A context that is named may also be in the files of \`KUBECONFIG\` or in \`~/.kube/config\` when there is a
kubeconfig in the data directory.
`;

function exitTable(): string {
  const rows = Object.values(exitStatuses).map(({ status, meaning }) => `| ${status} | ${meaning} |`);
  return ["## Exit status", "", "| status | meaning |", "|---|---|", ...rows, ""].join("\n");
}

function commandSections(command: Command): readonly string[] {
  return [section(command), ...command.commands.flatMap(commandSections)];
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
