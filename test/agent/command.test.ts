import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import type { CodingTaskStatus } from "../../src/resources/index.ts";
import { AgentWorld, lines } from "./agent-world.ts";

describe("a comment that asks for something", () => {
  let world: AgentWorld;

  afterEach(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  it("is acknowledged, carried out, pushed with its trailer, and answered in its thread", async () => {
    world = await AgentWorld.open({ script: () => edits("fixed.txt") });
    const mr = await world.openMergeRequest();

    const note = await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    const tasks = await world.allEnded(2);
    const task = tasks.find(({ spec }) => spec.type === "Command");
    expect(task?.status).toMatchObject({ phase: "Completed", result: { branch: "topic" } });
    expect(world.gitlab.whatHappened().awards).toEqual([{ note: note.id, name: "eyes", user: "copilot" }]);
    const [push] = world.pushes();
    expect(await world.git("log", "-1", "--format=%an%n%B", push?.new ?? "")).toMatch(
      new RegExp(`^Interlock\nfix: add the file\n\nInterlock-Task: ${task?.metadata.uid}`),
    );
    const [answer] = world.notes().filter(({ body }) => body.includes("answer="));
    expect(answer?.body).toContain(`✅ Changes pushed to \`topic\`: ${push?.new}`);
    expect(answer?.earlierBodies[0]).toContain("⏳ Working on it.");
    const asked = world.gitlab.whatHappened().notes.find(({ id }) => id === note.id);
    expect(answer?.discussion).toBe(asked?.discussion);
  });

  it("reaches the coder with the thread before it and the text of the merge request", async () => {
    world = await AgentWorld.open({ script: (folder) => [{ do: "echo", file: join(folder, "echo") }] });
    const mr = await world.openMergeRequest({ title: "Draft: the topic" });
    const [question] = (await world.gitlab.discuss(mr, world.kim, "Is the limit 3 or 4?")).notes;
    if (!question) throw new Error("a discussion has a first note");

    await world.gitlab.replyTo(mr, question, world.kim, "/copilot make it 4");

    await world.allEnded(1);
    const [echo] = await world.witnessed("echo");
    expect(echo).toMatchObject({
      request: {
        instruction: "make it 4",
        thread: [{ author: "kim", text: "Is the limit 3 or 4?" }],
        mergeRequest: { title: "Draft: the topic", sourceBranch: "topic" },
      },
    });
  });

  it("is pushed once to a GitLab that refuses fence refs, although the response is lost", async () => {
    world = await AgentWorld.open({ script: () => edits("fixed.txt") });
    world.gitlab.settings.acceptsCustomRefs = false;
    // The first push is refused.
    world.gitlab.faults.loseReply({ method: "POST", path: "/git-receive-pack", after: 1 });
    const mr = await world.openMergeRequest();

    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    const tasks = await world.allEnded(2);
    const task = tasks.find(({ spec }) => spec.type === "Command");
    expect(task?.status).toMatchObject({ phase: "Completed", attempts: 1 });
    expect(world.pushes()).toHaveLength(1);
    expect(world.log.events.filter(({ event }) => event === "fence ref refused")).toHaveLength(1);
  });

  it("is answered if nothing had to change", async () => {
    world = await AgentWorld.open({ script: () => [{ do: "answer", value: { summary: "It is right as it is." } }] });
    const mr = await world.openMergeRequest();

    await world.gitlab.commentOn(mr, world.kim, "@copilot, is this right?");

    await world.allEnded(2);
    expect(world.pushes()).toEqual([]);
    const answers = world.notes().filter(({ body }) => body.includes("answer="));
    expect(answers.map(({ body }) => body)).toEqual([
      expect.stringMatching(/^ℹ️ No file changes needed\.\n\nIt is right as it is\./),
    ]);
  });

  it("is ignored without a reply if it is deleted meanwhile", async () => {
    world = await AgentWorld.open({ agents: 0, script: () => edits("fixed.txt") });
    const mr = await world.openMergeRequest({ title: "Draft: no review" });
    const note = await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await world.gitlab.webhooks.settled();
    await world.asKim("DELETE", `/projects/${world.project.id}/merge_requests/${mr.iid}/notes/${note.id}`);

    await world.openAgent();

    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Cancelled", message: "the comment was deleted" });
    expect(world.notes()).toEqual([]);
    expect(world.pushes()).toEqual([]);
  });

  it("is applied after the earlier one: two on one merge request are both applied, in order", async () => {
    world = await AgentWorld.open({
      agents: 3,
      script: () => [
        { do: "sleep", ms: 100 },
        { do: "append", path: "list.txt", text: "x\n" },
      ],
    });
    const mr = await world.openMergeRequest();

    await world.gitlab.commentOn(mr, world.kim, "/copilot first");
    await world.gitlab.commentOn(mr, world.kim, "/copilot second");

    await world.allEnded(3);
    const subjects = await world.git("log", "--format=%s", "topic");
    expect(subjects.split("\n").slice(0, 2)).toEqual(["fix: second", "fix: first"]);
    expect(await world.git("show", "topic:list.txt")).toBe("x\nx\n");
  });

  it("is applied on top of a commit that a person pushed meanwhile", async () => {
    world = await AgentWorld.open({
      script: (folder) => ({
        cases: [
          {
            kind: "edit",
            steps: [
              { do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "witness") },
              ...edits("fixed.txt"),
            ],
          },
        ],
      }),
    });
    const mr = await world.openMergeRequest();
    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await expect.poll(() => world.witnessed("witness")).toHaveLength(1);

    const theirs = await world.gitlab.pushAs(world.kim, world.project, "topic", { "theirs.txt": "theirs\n" });
    await world.openGate("gate");

    await world.allEnded(3);
    expect(await world.git("log", "--format=%s", "topic", "-2")).toMatch(/^fix: add the file\n/);
    expect((await world.git("rev-parse", "topic~1")).trim()).toBe(theirs);
  });

  it("reads the discussions of its merge request once, and later only newer notes", async () => {
    world = await AgentWorld.open({ script: () => edits("fixed.txt") });
    const mr = await world.openMergeRequest({ title: "Draft: topic" });

    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    await world.allEnded(1);
    expect(world.gitlab.requests.count("GET", "/merge_requests/:iid/discussions")).toBe(1);
    expect(world.gitlab.requests.count("GET", "/merge_requests/:iid/notes")).toBe(2);
  });

  it("is answered again if a person deletes the first reply while the coder works", async () => {
    world = await AgentWorld.open({
      script: (folder) => [{ do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "witness") }],
    });
    const mr = await world.openMergeRequest({ title: "Draft: topic" });
    await world.gitlab.commentOn(mr, world.kim, "/copilot look");
    await expect.poll(() => world.witnessed("witness")).toHaveLength(1);

    const { url, root } = world.gitlab;
    const reply = `projects/${world.project.id}/merge_requests/${mr.iid}/notes/${world.notes()[0]?.id}`;
    await fetch(`${url}/api/v4/${reply}`, { method: "DELETE", headers: { "PRIVATE-TOKEN": root.token } });
    await world.openGate("gate");

    const [task] = await world.allEnded(1);
    expect(task?.status?.phase).toBe("Completed");
    expect(world.notes().map(({ body }) => body)).toEqual([expect.stringMatching(/^ℹ️ No file changes needed\./)]);
  });

  it("has one reply, although a former lock holder adds another late", async () => {
    world = await AgentWorld.open({
      script: (folder) => [{ do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "witness") }],
    });
    const mr = await world.openMergeRequest({ title: "Draft: topic" });
    await world.gitlab.commentOn(mr, world.kim, "/copilot look");
    await expect.poll(() => world.witnessed("witness")).toHaveLength(1);

    await world.gitlab.commentOn(mr, world.bot, world.notes()[0]?.body ?? "");
    await world.openGate("gate");

    await world.allEnded(1);
    expect(world.notes().map(({ body }) => body)).toEqual([expect.stringMatching(/^ℹ️ No file changes needed\./)]);
  });
});

describe("a comment with a built-in command", () => {
  let world: AgentWorld;

  afterEach(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  it("review: reviews the same commit again", async () => {
    world = await AgentWorld.open();
    const mr = await world.openMergeRequest();
    await world.allEnded(1);

    await world.gitlab.commentOn(mr, world.kim, "/copilot review");

    await expect.poll(async () => (await world.tasks()).length).toBe(3);
    const tasks = await world.allEnded(3);
    const received = world.ledger.events().filter(({ type }) => type === "task.received");
    expect(new Set(received.map(({ facts }) => facts["task"])).size).toBe(3);
    const reviews = tasks.filter(({ spec }) => spec.type === "Review");
    expect(reviews.map(({ status }) => status?.message)).toEqual(["reviewed, no findings", "reviewed, no findings"]);
    expect(world.notes().filter(({ body }) => body.includes("Code Review Summary"))).toHaveLength(1);
  });

  it("cancel: stops the running task, and reports that", async () => {
    world = await AgentWorld.open({ script: () => ({ cases: [{ kind: "edit", steps: [{ do: "hang" }] }] }) });
    const mr = await world.openMergeRequest();
    await world.gitlab.commentOn(mr, world.kim, "/copilot hang");
    await expect
      .poll(async () =>
        (await world.tasks()).some(({ spec, status }) => spec.type === "Command" && status?.phase === "Running"),
      )
      .toBe(true);

    await world.gitlab.commentOn(mr, world.kim, "/copilot cancel");

    const tasks = await world.allEnded(3);
    const phases = tasks.filter(({ spec }) => spec.type === "Command").map(({ status }) => status?.phase);
    expect(phases.sort()).toEqual(["Cancelled", "Completed"]);
    expect(world.notes().some(({ body }) => body.startsWith("🛑 cancelled: requested by kim"))).toBe(true);
  });

  it("cancel: reports the end of the running task after the delay that GitLab asks for", async () => {
    world = await AgentWorld.open({
      script: (folder) => ({
        cases: [
          {
            kind: "edit",
            steps: [{ do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "witness") }],
          },
        ],
      }),
    });
    const mr = await world.openMergeRequest();
    await world.gitlab.commentOn(mr, world.kim, "/copilot hang");
    await expect.poll(() => world.witnessed("witness")).toHaveLength(1);
    // The reply to the cancellation is changed at the same time.
    const reply = world.notes().find(({ body }) => body.startsWith("⏳"));
    const path = new RegExp(`/notes/${reply?.id}$`);
    world.gitlab.faults.failNext({ method: "PUT", path, status: 429, retryAfterSeconds: 2 });

    await world.gitlab.commentOn(mr, world.kim, "/copilot cancel");

    const tasks = await world.allEnded(3);
    const status = tasks.map((task) => task.status).find((status) => status?.phase === "Cancelled");
    const cancelledAt = status?.steps?.find(({ name }) => name === "cancelled")?.completedAt ?? "";
    const endedAt = status && "completionTime" in status ? status.completionTime : "";
    expect(Date.parse(endedAt) - Date.parse(cancelledAt)).toBeGreaterThanOrEqual(2_000);
    expect(world.notes().filter(({ body }) => body.startsWith("🛑 cancelled: requested by kim"))).toHaveLength(1);
  });

  it("cancel: leaves alone what was requested after it", async () => {
    const script = (folder: string) => {
      const wait = { do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "witness") } as const;
      return { cases: [{ kind: "edit", steps: [wait, ...edits("fixed.txt")] }] } as const;
    };
    world = await AgentWorld.open({ script });
    const mr = await world.openMergeRequest();
    await world.allEnded(1);
    world.gitlab.faults.before({ method: "POST", path: "/award_emoji" }, async () => {
      await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
      await expect.poll(() => world.witnessed("witness")).toHaveLength(1);
    });

    await world.gitlab.commentOn(mr, world.kim, "/copilot cancel");

    await expect.poll(() => world.notes().some(({ body }) => body.includes("no open task to cancel"))).toBe(true);
    await world.openGate("gate");
    await world.allEnded(3);
    expect(world.pushes()).toHaveLength(1);
  });

  it("cancel: names the tasks that it cancelled, also if it is interrupted in between", async () => {
    let failures = 0;
    const client = (real: KubeClient): KubeClient => ({
      ...real,
      async update(type, object, call) {
        const { status } = object as { readonly status?: CodingTaskStatus };
        const isDone = status?.steps?.some(({ name }) => name === "done");
        if (isDone && failures++ === 0) {
          await expect.poll(async () => (await phases()).includes("Cancelled")).toBe(true);
          throw new KubeError("unavailable", "no response");
        }
        return real.update(type, object, call);
      },
    });
    const phases = async () => (await world.tasks()).map(({ status }) => status?.phase);
    world = await AgentWorld.open({ client, script: () => ({ cases: [{ kind: "edit", steps: [{ do: "hang" }] }] }) });
    const mr = await world.openMergeRequest();
    const hanging = await world.gitlab.commentOn(mr, world.kim, "/copilot hang");
    await expect.poll(phases).toContain("Running");

    await world.gitlab.commentOn(mr, world.kim, "/copilot cancel");

    await world.allEnded(3);
    const replies = world.notes().filter(({ body }) => body.startsWith("Cancelled:"));
    expect(replies.map(({ body }) => body)).toEqual([expect.stringContaining(`- comment ${hanging.id} on`)]);
  });

  it("retry: retries a retry under a key that does not grow", async () => {
    const steps = [{ do: "exit", code: 3 }] as const;
    world = await AgentWorld.open({
      env: { AGENT_MAX_ATTEMPTS: "1" },
      script: () => ({ cases: [{ kind: "edit", steps }] }),
    });
    const mr = await world.openMergeRequest();
    const note = await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await world.allEnded(2);

    const retries = [];
    for (let round = 1; round <= 2; round++) {
      retries.push(await world.gitlab.commentOn(mr, world.kim, "/copilot retry"));
      await world.allEnded(2 + 2 * round);
    }

    const keys = (await world.tasks()).map(({ spec }) => spec.claimKey);
    const key = keys.find((one) => one.endsWith(`:${note.id}`));
    expect(keys).toEqual(expect.arrayContaining(retries.map(({ id }) => `${key}:retry:${id}`)));
  });

  it("retry: retries the failed task", async () => {
    world = await AgentWorld.open({
      env: { AGENT_MAX_ATTEMPTS: "1" },
      script: (folder) => ({
        cases: [
          {
            kind: "edit",
            steps: [
              {
                do: "times",
                counter: join(folder, "counter"),
                first: 1,
                steps: [{ do: "exit", code: 3 }],
                otherwise: edits("fixed.txt"),
              },
            ],
          },
        ],
      }),
    });
    const mr = await world.openMergeRequest();
    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await world.allEnded(2);
    expect(world.notes().some(({ body }) => body.startsWith("❌"))).toBe(true);

    await world.gitlab.commentOn(mr, world.kim, "/copilot retry");

    await expect.poll(() => world.pushes().length).toBe(1);
    await world.allEnded(4);
  });

  it.each([
    ["status", "- review of group/app!1: Completed"],
    ["help", "`/copilot cancel`"],
  ])("%s: answers", async (word, expected) => {
    world = await AgentWorld.open();
    const mr = await world.openMergeRequest();
    await world.allEnded(1);

    await world.gitlab.commentOn(mr, world.kim, `/copilot ${word}`);

    await world.allEnded(2);
    expect(world.notes().at(-1)?.body).toContain(expected);
  });
});

function edits(path: string) {
  return [{ do: "write", path, text: lines("done") }] as const;
}
