import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { commandEnvironment } from "./command-environment.ts";

const folder = mkdtempSync(join(tmpdir(), "interlock-command-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("lets a step call the program of this process as interlock, with its arguments unchanged", async () => {
  const script = join(folder, "it's main.mjs");
  writeFileSync(script, "console.log(JSON.stringify([process.execArgv, ...process.argv.slice(2)]));");

  const started = { execPath: process.execPath, execArgv: ["--no-warnings"], script };
  const env = await commandEnvironment(join(folder, "bin"), started);

  expect(env["PATH"]?.split(":")[0]).toBe(join(folder, "bin"));
  const printed = execFileSync(join(folder, "bin", "interlock"), ["action", "a b", "$HOME"], { env, encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual([["--no-warnings"], "action", "a b", "$HOME"]);
});
