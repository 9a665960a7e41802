import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { signalPaths } from "../../src/app/index.ts";
import { createProgram, interlock as interlockProgram } from "../../src/cli/program.ts";
import { usualManifests } from "../../src/manifests/index.ts";

const unused = () => Promise.reject(new Error("the help opens nothing"));
const { commands } = createProgram({ withCommandContext: unused, withServerContext: unused }, () => {});
const all = commands.flatMap((command) => [command, ...command.commands]).filter((one) => one.name() !== "version");
const { version, engines } = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  engines: { node: string };
};

describe("each command", () => {
  it.each(all.map((command) => [`${command.parent?.name()} ${command.name()}`, command] as const))(
    "%s has a summary with an imperative verb, and an example with options that it has",
    (_name, command) => {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const [, example = ""] = /For example:\n {2}(.*)/.exec(help) ?? [];
      const options = (example.split(" | ")[0] ?? "").split(" ").filter((word) => word.startsWith("-"));

      expect(command.summary()).toMatch(/^[A-Z][a-z]+,? /);
      expect(example).toMatch(/^interlock /);
      const declared = [command, ...command.commands].flatMap((one) =>
        one.options.flatMap(({ short, long }) => [short, long]),
      );
      for (const option of options) expect(declared).toContain(option);
    },
  );

  it("with subcommands lists them and their help in one group", () => {
    const parents = commands.filter((one) => one.commands.length > 0);

    expect(parents.map((one) => one.name())).toContain("users");
    for (const parent of parents) {
      expect(parent.helpInformation().match(/^\w+:$/gm)).toEqual(["Options:", "Commands:"]);
    }
  });

  it("names the sources and defaults that the code has", () => {
    const help = (name: string) =>
      commands
        .find((one) => one.name() === name)
        ?.helpInformation()
        .replace(/\s+/g, " ");
    const { replicas, places } = usualManifests;

    for (const fact of [replicas, ...Object.values(places)]) expect(help("manifests")).toContain(`default ${fact}`);
    for (const { source } of signalPaths) expect(help("receive")).toContain(source);
  });
});

describe("the list of commands", () => {
  it("fits a terminal of 80 columns, in groups", async () => {
    const program = createProgram({ withCommandContext: unused, withServerContext: unused }, () => {});
    const lines = program
      .configureOutput({ getOutHelpWidth: () => 80 })
      .helpInformation()
      .split("\n");

    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => /^\S.*:$/.test(line))).toEqual([
      "Options:",
      "Start:",
      "Inspect:",
      "Operate:",
      "Install:",
      "Processes:",
      "Used by runs and Jobs:",
    ]);
  });
});

describe("a command with wrong arguments", () => {
  it.each([
    ["gte incidents", "unknown command 'gte' (did you mean get?); see interlock help"],
    [
      "policy tset",
      "unknown command 'tset' (did you mean test?); see interlock help policy\n  for example: interlock policy test",
    ],
    ["policy", "missing subcommand: test; see interlock help policy"],
    ["help gte", "unknown command 'gte' (did you mean get?); see interlock help"],
    ["help policy tset", "unknown command 'tset' (did you mean test?); see interlock help policy"],
    ["get tasks --namspace x", "unknown option '--namspace' (did you mean --namespace?); see interlock help get"],
    ["cancel a --reason", "option '--reason <TEXT>' argument missing; see interlock help cancel"],
    ["cancel a --reason --block", "argument '--block' is invalid. It is an option; see interlock help cancel"],
    ["run a b --target node/a", "too many arguments for 'run'"],
    ["run --target node/a", "missing required argument 'workflow'; see interlock help run"],
    ["ledger show --from here", "Allowed choices are database, journal; see interlock help ledger"],
  ])("such as %j fails with the problem and the help to read", async (line, problem) => {
    await expect(
      interlockProgram(line.split(" "), { withCommandContext: unused, withServerContext: unused }),
    ).rejects.toThrow(problem);
  });
});

describe("interlock", { timeout: 60_000 }, () => {
  it("prints the problem of a command, an example, and the help to read", async () => {
    const { status, err } = await interlock(["policy", "tset"]);

    expect(status).toBe(2);
    expect(err).toBe(
      "error: unknown command 'tset' (did you mean test?); see interlock help policy\n  for example: interlock policy test --rules rules\n",
    );
  });

  it("prints the help of a subcommand", async () => {
    const { status, out } = await interlock(["help", "policy", "test"]);

    expect(status).toBe(0);
    expect(out).toMatch(/^Usage: interlock policy test [\s\S]+--rules/);
  });

  it("prints its version, and no commit where the sources run themselves", async () => {
    const { out } = await interlock(["--version"]);

    expect(out).toBe(`interlock ${version} (commit unknown), Node ${process.versions.node}\n`);
  });

  it("prints only the version of Node that it needs when Node is too old", async () => {
    const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.8"}})';
    const { status, err } = await interlock(["help"], ["--import", `data:text/javascript,${old}`]);

    const needed = engines.node.replace(/^>=(\d+\.\d+)\.0$/, "$1");
    expect(err).toBe(`error: Node 18.20.8 is too old; install Node ${needed} or newer, then npm install again\n`);
    expect(status).toBe(1);
  });
});

async function interlock(args: readonly string[], options: readonly string[] = []) {
  return promisify(execFile)(process.execPath, ["--import", "tsx", ...options, "src/main.ts", ...args]).then(
    ({ stdout }) => ({ status: 0, out: stdout, err: "" }),
    ({ code, stdout, stderr }) => ({ status: code as number, out: String(stdout), err: String(stderr) }),
  );
}
