import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { channels, sources, targetKinds } from "../../src/cli/commands/init/choices.ts";
import { until } from "../executor/processes/until.ts";
import { dieWithUs, end, waitForOutput } from "../services/child.ts";
import { interlock, type Output, plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";
import { TerminalSession } from "../services/terminal-session.ts";

let directory: string;
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), "interlock-init-")), "first");
});
afterEach(() => rmSync(join(directory, ".."), { recursive: true }));

describe("interlock init", { timeout: 60_000 }, () => {
  it.each(pairwise())(
    "for %s, %s and %s writes files that pass policy test, run as they are, and answer the sample alert",
    async (source, kind, notify) => {
      const { out, status } = await interlock([
        "init",
        directory,
        "--source",
        source,
        "--kind",
        kind,
        "--notify",
        notify,
      ]);
      expect(status).toBe(0);
      const [test, up, receive] = nextCommands(out);

      expect(await interlock(test ?? [])).toMatchObject({ status: 0, out: expect.stringContaining("3 passed") });

      const child = spawn(process.execPath, [await interlockProgram(), ...(up ?? []), "--listen", "127.0.0.1:0"], {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...plainEnv, GATEWAY_LISTEN: "127.0.0.1:0" },
      });
      dieWithUs(child);
      await waitForOutput(child, /Next, in a second terminal/);
      expect(await interlock(receive ?? [])).toMatchObject({
        status: 0,
        out: expect.stringContaining("Incident opened"),
      });
      const executions = await until("the workflow completes", async () => {
        const { out } = await at("get", "executions", "-o", "json");
        return out.includes('"phase": "Completed"') ? out : undefined;
      });
      const [, name = ""] = /"name": "(rr-[^"]+)"/.exec(executions) ?? [];
      expect((await at("logs", name)).out).toContain(`remediated ${targetKinds[kind].target}`);
      await end(child, "SIGTERM");
    },
  );

  it("prints three next commands", async () => {
    const { out } = await interlock(["init", directory]);

    expect(nextCommands(out).map(([command]) => command)).toEqual(["policy", "up", "receive"]);
  });

  it("overwrites nothing, and names the files that exist", async () => {
    await interlock(["init", directory]);
    writeFileSync(join(directory, "interlock.yaml"), "mine");

    const { err, status } = await interlock(["init", directory]);

    expect(status).toBe(1);
    expect(err).toContain("nothing was written, because these files exist; replace them with --force:");
    expect(err).toContain(join(directory, "rules/first-rule.yaml"));
    expect(readFileSync(join(directory, "interlock.yaml"), "utf8")).toBe("mine");
  });

  it("replaces them with --force", async () => {
    await interlock(["init", directory]);
    writeFileSync(join(directory, "interlock.yaml"), "mine");

    expect((await interlock(["init", directory, "--force"])).status).toBe(0);

    expect(readFileSync(join(directory, "interlock.yaml"), "utf8")).toContain("dir: rules");
  });

  it.each([
    ["there is a file of its name", () => directory],
    ["nothing can be made there", () => "/proc/nowhere"],
  ])("fails if the folder cannot be written, because %s", async (_because, folder) => {
    writeFileSync(directory, "a file");

    const { err, status } = await interlock(["init", folder()]);

    expect(status).toBe(1);
    expect(err).toMatch(/^error: \S+interlock\.yaml cannot be written \(\w+\); name another folder/);
  });

  it("asks at a terminal, accepts a number, a name or an empty answer, and repeats the question otherwise", async () => {
    const terminal = new TerminalSession(await interlockProgram(), ["init", directory]);
    await answer(terminal, /Where do alerts come from\?[\s\S]*\[alertmanager\]: /, "3\r");
    await answer(terminal, /Which kind of object is remediated first\?[\s\S]*\[node\]: /, "moon\r");
    await answer(terminal, /"moon" is none of node, deployment[\s\S]*\[node\]: /, "deployment\r");
    await answer(terminal, /Where do notices go\?[\s\S]*\[console\]: /, "\r");

    expect(await terminal.ended()).toBe(0);
    expect(JSON.parse(readFileSync(join(directory, "sample-alert.json"), "utf8"))).toMatchObject({
      target: "payment/deployment/payment-api",
    });
  });

  it("writes nothing when it is interrupted at a question", async () => {
    const terminal = new TerminalSession(await interlockProgram(), ["init", directory]);
    await expect.poll(() => terminal.screen).toContain("[alertmanager]: ");

    terminal.pressCtrlC();

    expect(await terminal.ended()).toBe(1);
    expect(existsSync(directory)).toBe(false);
  });
});

/** Every source, kind and channel at least once. */
function pairwise() {
  const kinds = Object.keys(targetKinds) as (keyof typeof targetKinds)[];
  return kinds.map((kind, i) => [at(Object.keys(sources), i), kind, at(Object.keys(channels), i)] as const);

  function at(names: readonly string[], i: number): string {
    return names[i % names.length] ?? "";
  }
}

/** The commands that were printed, without `interlock`. */
function nextCommands(out: string): readonly (readonly string[])[] {
  const [, text = ""] = /Next:\n\n([\s\S]*)/.exec(out) ?? [];
  return [...text.matchAll(/^ {2}interlock (.*?)(?: {4}\(.*\))?$/gm)].map(([, words = ""]) => words.split(" "));
}

function at(command: string, ...words: readonly string[]): Promise<Output> {
  return interlock([command, "--data", join(directory, ".data"), ...words]);
}

async function answer(terminal: TerminalSession, question: RegExp, text: string): Promise<void> {
  await expect.poll(() => terminal.screen, { timeout: 10_000 }).toMatch(question);
  terminal.type(text);
}
