import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UpProcess } from "../../services/up-process.ts";

let up: UpProcess;
beforeAll(async () => {
  up = await UpProcess.start({ greet: greeting, break: "exit 3" });
});
afterAll(() => up.stop());

const greeting = {
  script: 'echo "hello $who, this is $TARGET_RESOURCE"',
  parameters: { who: { type: "string", pattern: "^[A-Za-z]+$" } },
};

describe("interlock run", { timeout: 60_000 }, () => {
  it("waits for the end: exit status 0 when the workflow completed", async () => {
    const { status, out } = await up.interlock("run", "greet", "--target", "node/a", "--param", "who=Ada");

    expect(status).toBe(0);
    expect(out).toMatch(/^execution greet-[a-z0-9]+ was created\n/);
    expect(out).toMatch(/completed in \d\S*\n$/);
  });

  it("exits with 1 when it failed, and prints the failed step and the next step", async () => {
    const { status, out } = await up.interlock("run", "break", "--target", "node/b");

    expect(status).toBe(1);
    expect(out).toContain("failed: ");
    expect(out).toContain("node/b");
    expect(out).toMatch(/exit code 3|code 3/);
  });

  it("exits with 3 when it was skipped, and prints the reason and its end", async () => {
    await up.interlock("run", "greet", "--target", "node/c", "--param", "who=Ada");

    const { status, out } = await up.interlock("run", "greet", "--target", "nodes/c", "--param", "who=Bob");

    expect(status).toBe(3);
    expect(out).toContain("skipped, RecentlyRemediated: ");
    expect(out).toContain("Next: ");
  });

  it("does not wait with --no-wait", async () => {
    const { status, out } = await up.interlock("run", "greet", "--target", "node/d", "--param", "who=Ada", "--no-wait");

    expect(status).toBe(0);
    expect(out).toMatch(/^execution greet-[a-z0-9]+ was created\n$/);
  });

  it.each([
    ["an unknown workflow", ["nope", "--target", "node/e"], "there is no workflow nope; the catalog has break, greet"],
    ["a parameter that is missing", ["greet", "--target", "node/e"], "who"],
    ["a parameter that is wrong", ["greet", "--target", "node/e", "--param", "who=1;2"], "who"],
    ["a parameter that is not known", ["greet", "--target", "node/e", "--param", "what=x"], "what"],
    ["a parameter without a value", ["greet", "--target", "node/e", "--param", "who"], "--param needs NAME=VALUE"],
    ["no target", ["greet"], "required option '--target <TARGET>' not specified"],
    ["a target that is none", ["greet", "--target", "Node worker", "--param", "who=Ada"], "Node worker"],
    ["a target that does not fit", ["greet", "--target", "a/deployment/b", "--param", "who=Ada"], "deployment"],
  ])("refuses %s, and creates nothing", async (_what, args, message) => {
    const { status, out, err } = await up.interlock("run", ...args);

    expect(status).toBe(args.includes("nope") ? 1 : 2);
    expect(err).toContain(`error: `);
    expect(err).toContain(message);
    expect(out).toBe("");
  });
});

describe("interlock logs", { timeout: 60_000 }, () => {
  it("prints what the steps have written", async () => {
    const { out } = await up.interlock("run", "greet", "--target", "node/f", "--param", "who=Ada");

    const logs = await up.interlock("logs", nameIn(out), "--local", up.localDir);

    expect(logs).toMatchObject({ status: 0, out: "── task act, step say\nhello Ada, this is node/f\n" });
  });

  it("prints that there is no such execution, or that it never ran", async () => {
    await up.interlock("run", "greet", "--target", "node/g", "--param", "who=Ada");
    const skipped = await up.interlock("run", "greet", "--target", "node/g", "--param", "who=Ada");

    const unknown = await up.interlock("logs", "nobody");
    const unrun = await up.interlock("logs", nameIn(skipped.out));

    expect(unknown).toMatchObject({
      status: 1,
      err: expect.stringContaining("there is no execution and no incident nobody"),
    });
    expect(unrun).toMatchObject({ status: 1, err: expect.stringContaining("is Skipped: it has no run") });
  });
});

describe("interlock ack", { timeout: 60_000 }, () => {
  it("lets a workflow act again that was blocked by its failure", async () => {
    const failed = await up.interlock("run", "break", "--target", "node/h");
    const blocked = await up.interlock("run", "break", "--target", "node/h");
    expect(blocked.status).toBe(3);
    expect(blocked.out).toContain("skipped, PreviousExecutionFailed: ");

    const ack = await up.interlock("ack", nameIn(failed.out), "--reason", "looked at it");

    expect(ack.status).toBe(0);
    expect(ack.out).toContain("is acknowledged by");
    const again = await up.interlock("run", "break", "--target", "node/h");
    expect(again.out).toContain("failed: ");
  });

  it("wants a reason, and something that has ended", async () => {
    const failed = await up.interlock("run", "break", "--target", "node/i");
    const blocked = await up.interlock("run", "break", "--target", "node/i");

    const silent = await up.interlock("ack", nameIn(failed.out));
    const early = await up.interlock("ack", nameIn(blocked.out), "--reason", "why not");

    expect(silent).toMatchObject({
      status: 2,
      err: expect.stringContaining("required option '--reason <TEXT>' not specified"),
    });
    expect(early).toMatchObject({ status: 1, err: expect.stringContaining("there is nothing to acknowledge") });
  });
});

function nameIn(out: string): string {
  return /^execution (\S+) was created/.exec(out)?.[1] ?? "";
}
