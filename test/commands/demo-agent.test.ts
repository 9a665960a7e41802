import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { plainEnv } from "../services/interlock.ts";

describe("npm run demo:agent", { timeout: 300_000 }, () => {
  it("shows a review, and a comment that is carried out, each once though reported twice", async () => {
    const args = ["--import", "tsx", "scripts/demo-agent.ts", "--json"];

    const { stdout } = await promisify(execFile)(process.execPath, args, { env: plainEnv });

    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
      tasks: ["Command Completed", "Review Completed", "Review Completed"],
      findings: 1,
      pushes: 1,
    });
    expect(stdout).toMatch(/copilot {2}price\.ts: .*There is a name for this/);
    expect(stdout).toContain("net * (1 + vat)");
  });
});
