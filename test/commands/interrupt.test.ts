import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TerminalSession } from "../services/terminal-session.ts";
import { UpProcess } from "../services/up-process.ts";

// Every test has a target of its own, so that no run waits for another.
describe("Ctrl-C on interlock run at a real terminal", () => {
  let up: UpProcess;
  beforeAll(async () => {
    up = await UpProcess.start({ wait: "exec sleep 600" });
  });
  afterAll(() => up.stop());

  const question = /cancel (wait-\w+), or detach and let it run\? \[c\/D\]/;

  it("asks, and on the answer to cancel stops the run in the caller's name", async () => {
    const { terminal, name } = await interruptedRun("worker-1");

    terminal.type("c\r");

    expect(await terminal.ended()).toBe(1);
    expect(terminal.screen).toContain("Cancelled by interlock-admin: Ctrl-C on interlock run");
    expect((await up.interlock("why", name)).out).toContain("Cancelled by interlock-admin");
  });

  it("asks, and on the answer to detach prints how to cancel, and the run continues", async () => {
    const { terminal, name } = await interruptedRun("worker-2");

    terminal.type("d\r");

    await expectDetached(terminal, name);
  });

  it("detaches at once at a second Ctrl-C while the question is open, and prints how to cancel", async () => {
    const { terminal, name } = await interruptedRun("worker-3");

    terminal.pressCtrlC();

    await expectDetached(terminal, name);
  });

  it("detaches at Ctrl-D, too", async () => {
    const { terminal, name } = await interruptedRun("worker-4");

    terminal.type("\u0004");

    await expectDetached(terminal, name);
  });

  /** A run that Ctrl-C was pressed on, with the question on the screen. */
  async function interruptedRun(node: string) {
    const terminal = up.atTerminal("run", "wait", "--target", `node/${node}`);
    await expect.poll(() => terminal.screen).toContain("running as");
    terminal.pressCtrlC();
    await expect.poll(() => terminal.screen).toMatch(question);
    const [, name = ""] = question.exec(terminal.screen) ?? [];
    return { terminal, name };
  }

  /** The run continues, and the printed command stops it. */
  async function expectDetached(terminal: TerminalSession, name: string) {
    expect(await terminal.ended()).toBe(130);
    expect(terminal.screen).toContain(`detached: ${name} continues; to stop it: interlock cancel ${name} --reason`);
    expect((await up.interlock("get", "executions")).out).toMatch(new RegExp(`${name} .*Running`));
    await up.interlock("cancel", name, "--reason", "the test is over");
    await expect
      .poll(async () => (await up.interlock("get", "executions")).out)
      .toMatch(new RegExp(`${name} .*Failed`));
  }
});
