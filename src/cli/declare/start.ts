import { Option } from "commander";
import type { Role } from "../../console/index.ts";
import { channels, sources, targetKinds } from "../commands/init/choices.ts";
import { type ProgramBuilder, quietOption, withApiOptions, withConfig, withData } from "./declare.ts";

const group = "Start";

/** Declares the commands that a new user begins with. */
export function declareStart(builder: ProgramBuilder): void {
  const { command } = builder;

  command("init [dir]", {
    group,
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
      command("up", {
        group,
        summary: "Start the embedded API server and all stages in one process",
        details: "All servers listen on loopback, and all data is in one directory.",
        example: "interlock up --data /var/lib/interlock --config interlock.yaml",
        load: async () => (await import("../commands/processes/up.ts")).up,
      }),
    ),
  ).addOption(quietOption());

  declareUsers(builder);

  command("completion <shell>", {
    group,
    summary: "Print the script that completes commands, options and names in bash, zsh or fish",
    details: "Names of objects are read from the API server that the command line names, for at most two seconds.",
    example: "interlock completion bash",
    load: async () => (await import("../completion/scripts.ts")).completion,
  });
}

/** Not read from the console, whose code only some commands load. */
const userRoles = ["viewer", "operator", "admin"] satisfies readonly Role[];

function declareUsers({ parentCommand, command }: ProgramBuilder): void {
  const kept = "Users are stored in the data directory of up, which does not have to be running.";
  const users = parentCommand("users", {
    group,
    summary: "Manage the users of the console that up serves",
    details: `${kept} In a cluster, users are those of the API server.`,
    example: "interlock users add kim --role operator",
  });
  const code = () => import("../commands/users.ts");

  withData(
    command(
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
    withData(command(usage, about, users));
  }
}
