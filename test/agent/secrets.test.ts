import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { CoderStep } from "../doubles/scripted-coder.ts";
import { AgentWorld, type AgentWorldOptions } from "./agent-world.ts";

const key = "the-key-of-the-model-0815";
/** Joined here, so that no scanner takes this file for one that holds keys. */
const formatted = `sk-ant${"-"}api03-abcdefghijklmnop`;
const disguised = Buffer.from(`key=${key}`).toString("base64");

describe("the key of the coder's model", () => {
  let world: AgentWorld;

  afterEach(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  it("is in no note, status, ledger row or log line after a review that repeats it", async () => {
    const finding = { path: "app.ts", line: 2, side: "new", severity: "error", message: `it is ${key}` } as const;
    await open([{ do: "answer", value: { summary: `${key} ${formatted} ${disguised}`, findings: [finding] } }]);

    await world.openMergeRequest();

    await world.allEnded();
    expect(world.summaries()).toHaveLength(1);
    expect(world.notes()[0]?.body).toContain("it is [redacted]");
    await expectNoSecret();
  });

  it("is in no commit message and no reply, even if the comment itself contains it", async () => {
    await open([
      { do: "write", path: "added.txt", text: "done\n" },
      { do: "answer", value: { summary: `used ${key}` } },
    ]);
    const mr = await world.openMergeRequest({ title: "Draft: no review" });

    await world.gitlab.commentOn(mr, world.kim, `/copilot try ${key}`);

    await world.allEnded();
    expect(await world.git("log", "-1", "--format=%s", "topic")).toBe("fix: try [redacted]\n");
    expect(world.notes().map(({ body }) => body)).toEqual([expect.stringContaining("used [redacted]")]);
    await expectNoSecret();
  });

  it.each([
    ["unchanged", `key = ${key}\n`, "a secret of Interlock or of its coder"],
    ["in base64", `key = ${disguised}\n`, "a secret of Interlock or of its coder"],
    ["of a known format", `key = ${formatted}\n`, "an Anthropic key"],
  ])("is not pushed: %s", async (_how, text, what) => {
    await open([{ do: "write", path: "config.ini", text }]);
    const mr = await world.openMergeRequest({ title: "Draft: no review" });

    await world.gitlab.commentOn(mr, world.kim, "/copilot write the configuration");

    const [task] = await world.allEnded();
    expect(task?.status).toMatchObject({ phase: "Failed", failure: { reason: "PatchSecret" } });
    expect(world.pushes()).toEqual([]);
    expect(world.notes().map(({ body }) => body)).toEqual([
      expect.stringContaining(`the change to config.ini contains ${what}`),
    ]);
    await expectNoSecret();
  });

  it("is in no description of a merge request and no comment on an issue", async () => {
    await open(
      [
        { do: "write", path: "added.txt", text: "done\n" },
        { do: "answer", value: { summary: `used ${key}` } },
      ],
      { jira: true, gateways: 0 },
    );

    world.jira.addIssue(world.issues, { summary: `Try ${key}` });

    await world.allEnded();
    const [made] = world.gitlab.whatHappened().mergeRequests;
    expect(made?.title).toBe("feat(APP-1): Try [redacted]");
    expect(JSON.stringify(world.gitlab.whatHappened().mergeRequests)).not.toContain(key);
    expect(JSON.stringify(world.jira.whatHappened().comments)).not.toContain(key);
    expect(await world.git("log", "--format=%B", "agent/app-1")).not.toContain(key);
  });

  it("is in no status, note or log line after a run that failed with it", async () => {
    const steps = [
      { do: "complain", text: `refused: ${key}` },
      { do: "exit", code: 3 },
    ] as const;
    await open(steps, { env: { AGENT_MAX_ATTEMPTS: "1" } });

    await world.openMergeRequest();

    const [task] = await world.allEnded();
    expect(task?.status?.phase).toBe("Failed");
    await expectNoSecret();
  });

  async function open(script: readonly CoderStep[], options: AgentWorldOptions = {}) {
    world = await AgentWorld.open({
      ...options,
      script: () => script,
      environment: { MODEL_KEY: key },
      env: { AGENT_PASS_ENVIRONMENT: "MODEL_KEY", ...options.env },
    });
  }

  /** Neither as it is nor in disguise. What people wrote themselves stays theirs. */
  async function expectNoSecret() {
    const statuses = (await world.tasks()).map(({ status }) => status);
    const whole = { depth: null, maxStringLength: null, maxArrayLength: null, breakLength: Number.POSITIVE_INFINITY };
    const written = inspect([world.notes(), statuses, world.ledger.events(), world.log.events], whole);
    expect([key, formatted, disguised].filter((secret) => written.includes(secret))).toEqual([]);
  }
});
