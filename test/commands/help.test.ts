import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/index.ts";

const all = Object.values(commands).flat();
const { version, engines } = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  engines: { node: string };
};

describe("each command", () => {
  it.each(all.map((command) => [command.name, command] as const))("%s has an example of its own", (name, command) => {
    const [program, first, ...words] = (command.example.split(" | ")[0] ?? "").split(" ");
    const options = words.filter((word) => word.startsWith("-"));

    expect([program, first]).toEqual(["interlock", name]);
    for (const option of options) expect(command.usage).toContain(option);
  });
});

describe("interlock", { timeout: 60_000 }, () => {
  it("says to whoever types a command wrongly what is wrong, shows an example, and where to read on", async () => {
    const { status, err } = await interlock(["policy", "tset"]);

    expect(status).toBe(1);
    expect(err).toBe(
      "error: missing subcommand: test; see interlock help policy\n  for example: interlock policy test --rules rules\n",
    );
  });

  it("says which version it is", async () => {
    const { out } = await interlock(["--version"]);

    expect(out).toBe(`interlock ${version}, Node ${process.versions.node}\n`);
  });

  it("says to whoever has an old Node which one it needs, and nothing else", async () => {
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
