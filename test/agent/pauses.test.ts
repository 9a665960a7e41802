import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { KubeError } from "../../src/kube/index.ts";
import { automationPauses, type CodingTask } from "../../src/resources/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import type { CoderStep } from "../doubles/scripted-coder.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { AgentWorld, type AgentWorldOptions, lines } from "./agent-world.ts";

/** On a machine that has much else to do. */
const timeout = 90_000;

let world: AgentWorld;
let cli: TestCli;

afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
});

describe("while everything is paused", { timeout }, () => {
  it("tasks are created but do not start, name the pause, and run afterwards", async () => {
    await open({ script: () => edits("fixed.txt") });
    await paused("all");
    const mr = await world.openMergeRequest();
    const note = await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    const waiting = await allPaused(2);
    expect(waiting.map(({ status }) => status)).toMatchObject([whyPaused, whyPaused]);
    expect(world.notes()).toEqual([]);
    expect(world.gitlab.whatHappened().awards).toMatchObject([{ note: note.id, name: "eyes" }]);
    await expect.poll(() => world.figure('agent_open_tasks{phase="Paused"}')).toBe(2);
    expect(await world.figure('agent_open_tasks{phase="Waiting"}')).toBe(0);
    expect(recorded("task.paused")).toHaveLength(2);
    expect(recorded("task.started")).toEqual([]);
    await cli.run("why", waiting[0]?.metadata.name ?? "");
    const text = cli.read();
    expect(text).toMatch(/: not now, Paused$/m);
    expect(text).toMatch(/^ {2}paused +pause-\w+ by kim \(unverified\) \(upgrade\)$/m);
    expect(text).toMatch(/^ {2}next +wait, or end it: interlock resume pause-\w+ --reason/m);

    await cli.run("resume", "all", "--reason", "upgraded");

    // The push is reviewed, too.
    const tasks = await world.allEnded(3);
    expect(tasks.find(({ spec }) => spec.type === "Command")?.status).toMatchObject({ phase: "Completed" });
    expect(world.pushes()).toHaveLength(1);
  });

  it("a running task continues to its end, and a later one waits", async () => {
    await open({ script: (folder) => [...gate(folder), ...edits("fixed.txt")] });
    const mr = await world.openMergeRequest();
    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await someBegun(2);
    await paused("all");
    await world.gitlab.commentOn(mr, world.kim, "/copilot add it again");
    await allPaused(1);

    await world.openGate("gate");

    await ended(2);
    expect(world.pushes()).toHaveLength(1);
    // The push is not reviewed before the end.
    await allPaused(2);
    expect(recorded("task.started")).toHaveLength(2);
  });

  it("a task of a stopping process is finished by the next", async () => {
    await open({ agents: 0, script: (folder) => [...gate(folder), ...edits("fixed.txt")] });
    const first = await world.openAgent();
    const mr = await world.openMergeRequest();
    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await someBegun(2);
    await paused("all");
    await first.close();
    await world.openGate("gate");

    await world.openAgent();

    await ended(2);
    expect(world.pushes()).toHaveLength(1);
  });

  it("a failed task is not retried before the end", async () => {
    const otherwise = [{ do: "answer", value: { summary: "Fine.", findings: [] } }] as const;
    await open({
      script: (folder) => [
        ...gate(folder),
        { do: "times", counter: join(folder, "tries"), first: 1, steps: [{ do: "exit", code: 1 }], otherwise },
      ],
    });
    await world.openMergeRequest();
    await someBegun(1);
    await paused("target", repository());

    await world.openGate("gate");

    const [waiting] = await allPaused(1);
    expect(waiting?.status).toMatchObject({ attempts: 1, nextAttemptTime: expect.any(String) });
    await cli.run("resume", "target", repository(), "--reason", "upgraded");
    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Completed", attempts: 2 });
  });

  it.each([
    ["status", "- review of group/app!1: Waiting"],
    ["help", "`/copilot cancel`"],
    ["cancel", "- review of group/app!1"],
    ["retry", "There is no failed task to retry."],
  ])("/copilot %s is answered, and the answer explains the pause", async (word, expected) => {
    await open();
    await paused("all");
    const mr = await world.openMergeRequest();
    await allPaused(1);

    await world.gitlab.commentOn(mr, world.kim, `/copilot ${word}`);

    await expect.poll(() => world.notes().length, { timeout: 20_000 }).toBe(1);
    const [answer] = world.notes();
    expect(answer?.body).toContain(expected);
    expect(answer?.body).toMatch(/⏸️ Automation is paused: pause-\w+ by kim \(unverified\) \(upgrade\); clears when/);
  });

  it("/copilot review is answered, and its review waits", async () => {
    await open();
    const mr = await world.openMergeRequest();
    await world.allEnded(1);
    await paused("all");

    await world.gitlab.commentOn(mr, world.kim, "/copilot review");

    await allPaused(1);
    await ended(2);
    expect(world.notes().at(-1)?.body).toMatch(/^Review of \w+ is queued\.\n\n⏸️ Automation is paused/);
    await cli.run("resume", "all", "--reason", "upgraded");
    await world.allEnded(3);
  });
});

describe("a pause of a branch", { timeout }, () => {
  it("does not affect other branches", async () => {
    await open();
    await paused("target", `${repository()}@topic-1`);

    await world.openMergeRequest({ branch: "topic-1" });
    await world.openMergeRequest({ branch: "topic-2", files: { "app.ts": lines("one", "zwei", "three") } });

    await ended(1);
    expect((await allPaused(1)).map(({ spec }) => spec.targetResource)).toEqual([`${repository()}@topic-1`]);
    await cli.run("resume", "target", `${repository()}@topic-1`, "--reason", "merged");
    await world.allEnded(2);
  });
});

describe("when a pause ends", { timeout }, () => {
  it("by its time, the waiting task starts, and not before", async () => {
    await open();
    await paused("all");
    await world.openMergeRequest();
    await allPaused(1);
    const [first] = (await world.client.list(automationPauses)).items;
    cli.read();
    await cli.run("pause", "all", "--reason", "a moment", "--for", "2s");
    const until = /until (\S+)\n/.exec(cli.read())?.[1] ?? "";

    await cli.run("resume", first?.metadata.name ?? "", "--reason", "upgraded");

    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Completed" });
    const [started] = recorded("task.started");
    expect(Date.parse(started?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(until));
  });

  it("waiting tasks on different branches start in order", async () => {
    await open({ env: { AGENT_CONCURRENCY: "1" } });
    await paused("all");
    const branches = ["d", "b", "c", "a"];
    for (const branch of branches) {
      await world.openMergeRequest({ branch, files: { [branch]: branch } });
      await world.gitlab.webhooks.settled();
    }
    await allPaused(4);

    await cli.run("resume", "all", "--reason", "upgraded");

    await world.allEnded(4);
    const begun = recorded("task.started").map(({ facts }) => facts["target_resource"]);
    expect(begun).toEqual(branches.map((branch) => `${repository()}@${branch}`));
  });
});

it("nothing starts if the agent cannot read the pauses", { timeout }, async () => {
  await open({ agents: 0 });
  const allowed = permittedClient(world.client, "agent");
  let isAway = true;
  const asked: string[] = [];
  const client = {
    ...allowed,
    list: ((type, query, call) => {
      if (type.kind !== automationPauses.kind || !isAway) return allowed.list(type, query, call);
      asked.push(type.kind);
      throw new KubeError("unavailable", "the API server is away");
    }) as typeof allowed.list,
  };

  const opening = world.openAgent({ client });
  await world.openMergeRequest();
  await world.gitlab.webhooks.settled();
  await expect.poll(() => asked.length, { timeout: 20_000 }).toBeGreaterThan(2);

  expect(recorded("task.started")).toEqual([]);
  isAway = false;
  await opening;
  await world.allEnded(1);
});

const whyPaused = {
  phase: "Waiting",
  pause: { name: expect.stringMatching(/^pause-\w+$/), requestedBy: "kim (unverified)", reason: "upgrade" },
  message: expect.stringMatching(
    /^paused: pause-\w+ by kim \(unverified\) \(upgrade\); clears when the last pause that covers it ends$/,
  ),
};

async function open(options: AgentWorldOptions = {}): Promise<void> {
  world = await AgentWorld.open(options);
  cli = new TestCli(world.client);
}

async function paused(...scope: readonly string[]): Promise<void> {
  await cli.run("pause", ...scope, "--reason", "upgrade");
  cli.read();
}

function repository(): string {
  return `git:127.0.0.1/${world.project.id}`;
}

/** Waits until `count` tasks say that they wait for a pause to end. */
async function allPaused(count: number): Promise<readonly CodingTask[]> {
  await world.gitlab.webhooks.settled();
  return settled(count, ({ status }) => status?.phase === "Waiting" && status.pause !== undefined);
}

async function ended(count: number): Promise<void> {
  await settled(count, ({ status }) => status !== undefined && "completionTime" in status);
}

async function someBegun(count: number): Promise<void> {
  await settled(count, ({ status }) => status?.phase === "Running");
}

async function settled(count: number, isMeant: (task: CodingTask) => boolean): Promise<readonly CodingTask[]> {
  const meant = async () => (await world.tasks()).filter(isMeant);
  await expect.poll(async () => (await meant()).length, { timeout: 30_000, interval: 20 }).toBe(count);
  return meant();
}

function recorded(type: string) {
  return world.ledger.events().filter((event) => event.type === type);
}

function gate(folder: string): readonly CoderStep[] {
  return [{ do: "wait-for-file", path: join(folder, "gate") }];
}

function edits(path: string): readonly CoderStep[] {
  return [{ do: "write", path, text: lines("done") }];
}
