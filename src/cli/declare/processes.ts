import { type Command, Option } from "commander";
import type { Role } from "../../console/index.ts";
import { channels, sources, targetKinds } from "../commands/init/choices.ts";
import { type Declare, quietOption, value, withConfig, withServer } from "./declare.ts";

/** Declares the commands that start processes, and those for their deployment. */
export function declareProcesses({ family, inContext }: Declare): void {
  const group = "Processes";
  const start = "Start";
  const withinRuns = "Used by runs and Jobs";

  inContext("init [dir]", {
    group: start,
    summary: "Write a first configuration, rule, workflow and test",
    details:
      "Writes into DIR, by default this folder. At a terminal it asks for missing choices; otherwise defaults are used. Nothing is overwritten without --force.",
    example: "interlock init remediation",
    load: async () => (await import("../commands/init/init.ts")).init,
  })
    .addOption(new Option("--source <SOURCE>", "the source of alerts").choices(Object.keys(sources)))
    .addOption(new Option("--kind <KIND>", "the kind of the first target").choices(Object.keys(targetKinds)))
    .addOption(new Option("--notify <CHANNEL>", "the channel of notices").choices(Object.keys(channels)))
    .option("--force", "replace files that exist");

  withConfig(
    withApiOptions(
      inContext("up", {
        group: start,
        summary: "Start the embedded API server and all stages in one process",
        details: "All servers listen on loopback, and all data is in one directory.",
        example: "interlock up --data /var/lib/interlock --config interlock.yaml",
        load: async () => (await import("../commands/processes/up.ts")).up,
      }),
    ),
  ).addOption(quietOption());

  withApiOptions(
    inContext("api", {
      group,
      summary: "Start only the embedded API server",
      details: "It serves the Kubernetes API from a directory, for other processes of this machine.",
      example: "interlock api --data /var/lib/interlock --listen 127.0.0.1:7080",
      load: async () => (await import("../commands/processes/api.ts")).api,
    }),
  );

  for (const [name, summary, directory] of stages) {
    const stage = inContext(name, {
      group,
      summary: `Start only ${summary}`,
      details: "It works on the API server that --kubeconfig names.",
      example: `interlock ${name} --kubeconfig .data/kubeconfig --data ${directory}`,
      load: async () => (await import("../commands/processes/stages.ts"))[name],
    });
    withServer(withConfig(stage), ".data/kubeconfig").option(
      "--data <DIR>",
      "directory of this process alone",
      value,
      directory,
    );
  }

  declareUsers({ family, inContext }, start);

  inContext("action <name>", {
    group: withinRuns,
    summary: "Perform a ready-made action, within a run of its workflow",
    details:
      "Run by the steps of workflows, which pass target, fence and parameters as environment variables (docs/actions.md). Not for use by hand.",
    example: "interlock action restart-rollout",
    load: async () => (await import("../commands/processes/action.ts")).action,
  });

  inContext("completion <shell>", {
    group: start,
    summary: "Print the script that completes commands, options and names in bash, zsh or fish",
    details: "Names of objects are read from the API server that the command line names, for at most two seconds.",
    example: "interlock completion bash",
    load: async () => (await import("../completion/scripts.ts")).completion,
  });

  declareCoder({ family, inContext }, withinRuns);
}

function declareCoder({ family, inContext }: Pick<Declare, "family" | "inContext">, group: string): void {
  const details = "Run by the Jobs that the agent creates (agent.executor: job). Not for use by hand.";
  const summary = "Fetch the files and collect the result of a coder, within its Job";
  const coder = family("coder", { group, summary, details, example: "interlock coder fetch" });
  const code = () => import("../commands/processes/coder.ts");
  const fetch = { summary: "Fetch the files", details, example: "interlock coder fetch" };
  inContext("fetch", { ...fetch, load: async () => (await code()).fetchFiles }, coder);
  const collect = { summary: "Collect the result", details, example: "interlock coder collect" };
  inContext("collect", { ...collect, load: async () => (await code()).collectResult }, coder);
}

/** Not read from the console, whose code only some commands load. */
const userRoles = ["viewer", "operator", "admin"] satisfies readonly Role[];

function declareUsers({ family, inContext }: Pick<Declare, "family" | "inContext">, group: string): void {
  const kept = "Users are stored in the data directory of up, which does not have to be running.";
  const users = family("users", {
    group,
    summary: "Manage the users of the console that up serves",
    details: `${kept} In a cluster, users are those of the API server.`,
    example: "interlock users add kim --role operator",
  });
  const code = () => import("../commands/users.ts");
  const withData = (command: Command) =>
    command.option("--data <DIR>", "data directory of up; default INTERLOCK_DATA, else .data", value);

  withData(
    inContext(
      "add <name>",
      {
        summary: "Add a user, or give a user another role",
        details: "A viewer changes nothing; an operator may perform every operation; so may an admin.",
        example: "interlock users add kim --role operator",
        load: async () => (await code()).addUser,
      },
      users,
    ),
  ).addOption(new Option("--role <ROLE>", "what the user may do").choices(userRoles).makeOptionMandatory());
  const others = [
    ["list", "List the users and their roles", "list", "listUsers"],
    ["remove <name>", "Remove a user and end all sessions of that user", "remove kim", "removeUser"],
    [
      "link [name]",
      "Print a link that logs a user in, once, within 10 minutes; the admin unless named",
      "link kim",
      "linkUser",
    ],
    ["logout <name>", "End all sessions of a user", "logout kim", "logOutUser"],
  ] as const;
  for (const [usage, summary, example, load] of others) {
    const about = {
      summary,
      details: kept,
      example: `interlock users ${example}`,
      load: async () => (await code())[load],
    };
    withData(inContext(usage, about, users));
  }
}

const stages = [
  ["gateway", "the gateway, which accepts signals over HTTP and opens incidents", ".gateway"],
  ["orchestrator", "the orchestrator, which decides incidents and creates executions", ".orchestrator"],
  ["executor", "the executor, which runs workflows, one at a time per target", ".executor"],
  ["notify", "the delivery of notices to chat, pagers, mail, webhooks, a file or its own output", ".notify"],
  ["agent", "the agent, which reviews merge requests and works on comments and issues", ".agent"],
  ["console", "the console, which shows everything and performs operations in the name of its users", ".console"],
] as const;

function withApiOptions(command: Command): Command {
  return command
    .option("--data <DIR>", "directory of all data; default INTERLOCK_DATA, else .data", value)
    .option("--listen <HOST:PORT>", "address of the API server; port 0 selects a free one", value, "127.0.0.1:7080")
    .option(
      "--token <TOKEN>",
      "the admin's token; prefer INTERLOCK_TOKEN, which no process list shows. Without either, one is created in the data directory",
      value,
    )
    .option(
      "--accept-plain-tokens",
      "accept tokens over plain HTTP, not over TLS alone; only on a loopback address. Or INTERLOCK_ACCEPT_PLAIN_TOKENS=true",
    )
    .option("--kubeconfig-out <FILE>", "where the kubeconfig is written; default DIR/kubeconfig", value);
}
