import { execFileSync, spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CoderScript, type CoderStep, scriptedCoder } from "./scripted-coder.ts";

let folder: string;
let tree: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coder-"));
  tree = join(folder, "tree");
  mkdirSync(tree);
  writeFileSync(join(tree, "a.txt"), "one\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the scripted coder", () => {
  it("answers what it is asked, and changes nothing by itself", async () => {
    expect(await run([])).toMatchObject({ code: 0, answer: { summary: "Done." } });
    expect(await run([], { kind: "review" })).toMatchObject({ answer: { findings: [] } });
    expect(readFileSync(join(tree, "a.txt"), "utf8")).toBe("one\n");
  });

  it("edits, renames, deletes and links files, and commits by itself", async () => {
    execFileSync("git", ["init", "--quiet"], { cwd: tree });
    await run([
      { do: "append", path: "a.txt", text: "two\n" },
      { do: "rename", from: "a.txt", to: "deep/b.txt" },
      { do: "replace", path: "deep/b.txt", from: "one", to: "1" },
      { do: "write", path: "c.txt", text: "c" },
      { do: "delete", path: "c.txt" },
      { do: "symlink", path: "link", to: "/etc/passwd" },
      { do: "write-random", path: "big", bytes: 2_000_000 },
      { do: "hook", name: "post-checkout", text: "#!/bin/sh\n" },
      { do: "commit", message: "By myself" },
    ]);
    expect(readFileSync(join(tree, "deep/b.txt"), "utf8")).toBe("1\ntwo\n");
    expect(existsSync(join(tree, "c.txt"))).toBe(false);
    expect(lstatSync(join(tree, "link")).isSymbolicLink()).toBe(true);
    expect(statSync(join(tree, "big")).size).toBe(2_000_000);
    expect(statSync(join(tree, ".git/hooks/post-checkout")).mode & 0o111).toBeGreaterThan(0);
    expect(execFileSync("git", ["log", "--format=%s"], { cwd: tree }).toString()).toBe("By myself\n");
  });

  it("finds what its environment, its folder and the list of processes give away", async () => {
    mkdirSync(join(tree, ".git"));
    writeFileSync(join(tree, ".git/config"), "url = https://oauth2:glpat-config@example.com/\n");
    const look: CoderStep[] = [{ do: "look-for-secrets", pattern: "glpat-\\w+|agent-[\\w-]+\\.json" }];
    const { answer } = await run(look, { kind: "edit" }, { TOKEN: "glpat-own" });
    expect(answer.summary).toMatch(/glpat-own.* glpat-config.* agent-.*\.json/);
  });

  it("finds what its parent's environment gives away", async () => {
    const command = await scriptedCoder(folder, [{ do: "look-for-secrets", pattern: "glpat-\\w+" }]);
    const parent = ["-c", '"$@"; exit $?', "sh", "env", "-u", "TOKEN", ...command];
    const env = { PATH: process.env["PATH"], TOKEN: "glpat-parent" };
    const out = execFileSync("sh", parent, { cwd: tree, env, input: '{"kind":"edit"}' });
    expect(out.toString()).toContain("glpat-parent");
  });

  it("fails in all the ways that were ordered", async () => {
    expect(await run([{ do: "say", text: "{not json" }])).toMatchObject({ code: 0, out: "{not json" });
    expect(
      await run([
        { do: "complain", text: "oh" },
        { do: "exit", code: 3 },
      ]),
    ).toMatchObject({ code: 3, err: "oh" });
    expect(await run([{ do: "kill", signal: "SIGKILL" }])).toMatchObject({ code: null });
    expect((await run([{ do: "flood", bytes: 3_000_000 }])).out.length).toBeGreaterThan(3_000_000);
  });

  it("fails at first and not later", async () => {
    const counter = join(folder, "counter");
    const script: CoderStep[] = [
      {
        do: "times",
        counter,
        first: 1,
        steps: [{ do: "exit", code: 1 }],
        otherwise: [{ do: "answer", value: { summary: "Now." } }],
      },
    ];
    expect((await run(script)).code).toBe(1);
    expect((await run(script)).answer.summary).toBe("Now.");
  });

  it("does what fits its request, and writes down what that was", async () => {
    const file = join(folder, "echo");
    const script = {
      cases: [
        {
          matches: "SHOP-7",
          steps: [
            { do: "echo", file },
            { do: "answer", value: { summary: "seven" } },
          ],
        },
        { kind: "review", steps: [{ do: "answer", value: { findings: [{ path: "a.txt", line: 1 }] } }] },
      ],
    } satisfies CoderScript;
    const request = { kind: "edit", issue: { key: "SHOP-7" } };
    expect((await run(script, request)).answer.summary).toBe("seven");
    expect((await run(script, { kind: "review" })).answer.findings).toEqual([{ path: "a.txt", line: 1 }]);
    expect((await run(script, { kind: "edit" })).answer.summary).toBe("Done.");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ request, cwd: tree });
  });

  it("waits for a sign, with witnesses, and leaves children behind", async () => {
    const [witness, pids, sign] = ["witness", "pids", "sign"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const running = run([
      { do: "fork", pids, ms: 60_000, detached: true },
      { do: "wait-for-file", path: sign, witness },
    ]);
    writeFileSync(sign, "");
    expect((await running).code).toBe(0);

    const events = readFileSync(witness, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events).toMatchObject([{ event: "begin" }, { event: "end" }]);
    expect(BigInt(events[1].atNs) > BigInt(events[0].atNs)).toBe(true);
    const child = Number(readFileSync(pids, "utf8"));
    expect(process.kill(child, 0)).toBe(true);
    process.kill(child, "SIGKILL");
  });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: any answer
  readonly answer: any;
}

async function run(
  script: CoderScript | readonly CoderStep[],
  request: object = { kind: "edit" },
  env: Record<string, string> = {},
): Promise<Ran> {
  const [command = "", ...args] = await scriptedCoder(folder, script);
  const child = spawn(command, args, { cwd: tree, env: { PATH: process.env["PATH"], ...env } });
  child.stdin.end(JSON.stringify(request));
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, out, err, answer: parsed(out) }));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
