import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../context.ts";
import {
  type CommandSpec,
  kindNames,
  ledgerSources,
  outputOption,
  type ProgramBuilder,
  quietOption,
  value,
  values,
  withConfig,
  withData,
  withNamespace,
  withServer,
} from "./declare.ts";

const group = "Inspect";

/** Declares the commands that only read. */
export function declareInspection(builder: ProgramBuilder): void {
  const { parentCommand, command, serverCommand } = builder;

  declareGet(builder);

  serverCommand("status", {
    group,
    summary: "Show whether everything is healthy, and what to do if not",
    details:
      "Ten lines: the verdict, stages, incidents, executions, watches, ledger, locks, rules and workflows, signals and pauses. Below them, each problem with what to do about it. Exit status 0 if everything is healthy, 1 if not.",
    example: "interlock status",
    load: async () => (await import("../commands/status/status.ts")).status,
  }).addOption(outputOption(["json", "yaml"], "instead of text"));

  withNamespace(
    serverCommand("why <subject...>", {
      group,
      summary: "Explain the state of an incident, an execution, a coding task, a target or a signal",
      details: subjects,
      example: "interlock why node/worker-1",
      load: async () => (await import("../commands/why.ts")).why,
    }),
  )
    .option("--workflow <WORKFLOW>", "of a target: only this workflow", value)
    .addOption(outputOption(["json", "yaml"], "instead of text"));

  serverCommand("logs <execution-or-incident...>", {
    group,
    summary: "Print the output of an execution's steps",
    details:
      "For an incident, prints the output of its latest execution; for several, one after the other. With --follow, prints the lines of all steps while they are written, each with its task and step, until the execution has ended: exit status 0 if it completed, 1 if it failed, 3 if it was skipped. In a cluster, output is read from pods through the API server, for which you need the right to get pods/log, and to list and watch pods. A local step has no times for its lines: --since leaves out steps that ended before. On a terminal, colours are left out and other escapes are shown as text, such as \\u001b; a file or pipe receives exactly what was written.",
    example: "interlock logs -f rr-s3rd7pvp-1-1",
    load: async () => (await import("../commands/logs.ts")).logs,
  })
    .option("-f, --follow", "also print new output until the execution ends")
    .option("--task <TASK>", "only of this task", value)
    .option("--step <STEP>", "only of this step", value)
    .option("--tail <N>", "only the last lines of each step", parseCount)
    .option("--since <WHEN>", "only since: 2026-11-15T10:00:00Z, or 5m for five minutes ago", value)
    .option("--namespace <NS>", "namespace of the execution", value)
    .option("--local <DIR>", "where the local engine keeps its runs; default: the data directory", value);

  declareLedger(builder);
  declareConfig(builder);

  const example = "interlock policy test --rules rules";
  const summary = "Test rules and policy against expectations, for continuous integration";
  const policy = parentCommand("policy", { group, summary, example });
  const test = command(
    "test [files...]",
    {
      summary,
      details:
        'Needs no server. FILES are files or folders; default: the folder "tests" of the rules, see docs/rules.md. Exit status 0 if everything is as expected. Custom kinds are those of --crds, and those that the setting kinds.declared declares.',
      example,
      load: async () => (await import("../commands/policy.ts")).policyTest,
    },
    policy,
  );
  withConfig(test)
    .option("--rules <DIR>", "folder of the rules; default: the setting rules.dir", value)
    .option("--crds <FILE|DIR>", "CustomResourceDefinitions of custom kinds; may be repeated", values);
}

function declareGet({ serverCommand }: ProgramBuilder): void {
  withNamespace(
    serverCommand("get <kind> [name...]", {
      group,
      summary: `List ${kindNames.join(", ")}`,
      details: getDetails,
      example: "interlock get incidents --phase Blocked --since 2h",
      load: async () => (await import("../commands/get.ts")).get,
    }),
  )
    .addOption(
      outputOption(["table", "wide", "json", "yaml", "name", "jsonpath"], "the format; jsonpath=TEMPLATE prints parts"),
    )
    .option("--phase <PHASE>", "only in this phase, or one of several: Failed,Skipped; may be repeated", values)
    .option("--reason <REASON>", "only blocked, skipped, failed, closed or stalled for this reason; the same", values)
    .option("--lane <LANE>", "only incidents in this lane of the console, such as needsYou or queued; the same", values)
    .option("--workflow <WORKFLOW>", "only of this workflow; may be repeated", values)
    .option("--target <TARGET>", "only about this target, such as node/worker-1", value)
    .option("--search <WORDS>", "only with all of these words in their texts", value)
    .option("--since <WHEN>", "only created since: 2026-11-15T10:00:00Z, or 2h for two hours ago", value)
    .option("-w, --watch", "also print each object that changes from then on, until Ctrl-C");
}

const getDetails = `Oldest first. Names with a hash in them are shortened, and every command accepts them so; --output name prints them as kubectl accepts them, and --output wide, json and yaml print them whole. KIND is one of the words above, or a name that kubectl accepts, such as rr.

TEMPLATE is text with paths in braces, as in kubectl: '{.metadata.name}' of one object, '{range .items[*]}{.metadata.name}{"\\n"}{end}' of several.`;

function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is not a number.");
}

const subjects = `Each SUBJECT is one of:

an incident: its progress, the decisions about it and their checks, what it waits for and until when, what an operator can do, and the same checks now;

an execution: its outcome, the checks that skipped it, and the checks now;

a target, such as node/worker-1: whether a workflow, or each of the catalog, may act on it now, and which signals about it had no effect;

a coding task: its progress, and what it waits for;

a branch, git:host/id@branch, or a repository, git:host/id: whether automation is paused there, and all tasks on it;

a merge request (its address, or group/app!7), a comment (its address, or note:ID) or an issue (its address or key): its tasks, and why reports of it were ignored;

a signal (signal:NAME, by the name of its alert or of its source, or its fingerprint v1:…): why it had no effect.`;

const ledgerSubject =
  "SUBJECT is a target, or the name of an incident or of an execution, as the other commands print them. Without it, all events.";

function declareLedger({ parentCommand, command }: ProgramBuilder): void {
  const example = "interlock ledger show node/worker-1 --since 2h";
  const ledger = withConfig(parentCommand("ledger", { group, summary: "Show, export and verify the ledger", example }))
    .alias("audit")
    .option(
      "--data <DIR>",
      "data directory of the process whose ledger it is; default INTERLOCK_DATA, else .data",
      value,
    );
  const add = (usage: string, about: CommandSpec<CommandContext>) => command(usage, about, ledger);
  const code = () => import("../commands/ledger/ledger.ts");

  withFilters(
    add("show [subject]", {
      summary: "Print events as text, one line each, oldest first",
      details: ledgerSubject,
      example,
      load: async () => (await code()).show,
    }),
  );
  withFilters(
    add("export [subject]", {
      summary: "Print events as JSON lines, each with its chain",
      details: ledgerSubject,
      example: "interlock ledger export --type execution.skipped",
      load: async () => (await code()).exportRows,
    }),
  ).addOption(quietOption());
  add("verify", {
    summary: "Check that every row is unchanged, and none is missing",
    details: "Reads the database and the journals of this machine, and compares them. Exit status 1 on a problem.",
    example: "interlock ledger verify --checkpoint checkpoints/latest.json",
    load: async () => (await code()).verifyRows,
  })
    .addOption(fromOption())
    .option("--checkpoint <FILE>", "prove that nothing before the checkpoint was changed or removed", value)
    .option("--key <FILE>", "public keys that may have signed it; default: those of the configuration", value)
    .addOption(quietOption());
  add("ship", {
    summary: "Ship the journals of processes that no longer run to the database",
    example: "interlock ledger ship",
    load: async () => (await code()).ship,
  }).addOption(quietOption());
  add("checkpoint", {
    summary: "Sign the heads of all chains, and export them",
    example: "interlock ledger checkpoint --out checkpoints",
    load: async () => (await code()).checkpoint,
  }).option("--out <DIR>", "default: the setting ledger.checkpointDir", value);
  add("keygen", {
    summary: "Generate a key for checkpoints: FILE (private) and FILE.pub (public)",
    example: "interlock ledger keygen --out ledger.key",
    load: async () => (await code()).keygen,
  }).requiredOption("--out <FILE>", "where the private key is written", value);
}

function declareConfig({ parentCommand, command }: ProgramBuilder): void {
  const example = "interlock config view --changed";
  const summary = "Print the settings, each with its value and where that comes from";
  const config = parentCommand("config", { group, summary, example });
  const view = command(
    "view",
    {
      summary,
      details:
        "An option wins over the environment, the environment over the settings file, and the file over the default. Secrets are not printed.",
      example,
      load: async () => (await import("../commands/config-view.ts")).configView,
    },
    config,
  );
  withData(withServer(withConfig(view), "DIR/kubeconfig"))
    .option("-n, --namespace <NS>", "as for other commands", value)
    .option("--changed", "only settings that are not defaults")
    .addOption(outputOption(["table", "json", "yaml"], "the format"));
}

function fromOption(): Option {
  const meaning = "the database, whose newest events are a moment old, or the journals of this machine";
  return new Option("--from <SOURCE>", meaning).choices(ledgerSources);
}

function withFilters(command: Command): Command {
  return command
    .addOption(fromOption())
    .option("--target <TARGET>", "events about this target", value)
    .option("--incident <NAME>", "as in: interlock get incidents", value)
    .option("--execution <NAME|UID>", "as in: interlock get executions", value)
    .option("--type <TYPE>", "such as execution.skipped", value)
    .option("--since <WHEN>", "2026-11-15T10:00:00Z, or 2h for two hours ago", value)
    .option("--until <WHEN>", "the same", value);
}
