import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import { LedgerError } from "../../src/ledger/index.ts";
import { type CodingTaskStatus, coderStep, codingTasks } from "../../src/resources/index.ts";
import { AgentWorld, type AgentWorldOptions, lines } from "./agent-world.ts";

const findings = [1, 2, 3].map((line) => {
  return { path: "app.ts", line, side: "new", severity: "info", message: `about ${line}` };
});
const polling = {
  GITLAB_POLL: "true",
  GITLAB_PROJECTS: "group/app",
  GITLAB_POLL_INTERVAL: "1s",
};

describe("a task", () => {
  let world: AgentWorld;

  afterEach(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  describe("without a response", () => {
    it.each([
      ["a discussion", "POST", "/discussions"],
      ["the last discussion", "POST", "/discussions", 2],
      ["the summary", "POST", "/notes"],
    ])("posts everything once although the response to %s is lost", async (_what, method, path, after = 0) => {
      await open();
      world.gitlab.faults.loseReply({ method, path, after });

      await world.openMergeRequest();

      await world.allEnded(1);
      expect(world.notes()).toHaveLength(4);
      expect(world.summaries()).toHaveLength(1);
    });

    it.each([
      ["the acknowledgement", "POST", "/award_emoji"],
      ["the first reply", "POST", "/notes"],
      ["the changed reply", "PUT", "/notes/:note"],
      ["the push", "POST", "/git-receive-pack"],
    ])("carries out a comment once although the response to %s is lost", async (_what, method, path) => {
      await open({ gateways: 1 });
      world.gitlab.webhooks.hold();
      const mr = await world.openMergeRequest({ title: "Draft: no review" });
      world.gitlab.webhooks.release();
      world.gitlab.faults.loseReply({ method, path });

      await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

      await world.allEnded(1);
      expect(world.pushes()).toHaveLength(1);
      expect(world.notes().map(({ body }) => body.slice(0, 9))).toEqual(["✅ Changes"]);
    });

    it("waits as long as GitLab asks, and retries", async () => {
      await open();
      world.gitlab.faults.failNext({ method: "POST", path: "/discussions", status: 429, retryAfterSeconds: 1 });
      world.gitlab.faults.failNext({ method: "GET", path: "/discussions", status: 502, times: 2 });

      await world.openMergeRequest();

      await world.allEnded(1);
      expect(world.notes()).toHaveLength(4);
    });

    it("completes wherever the store of tasks and locks fails", async () => {
      let calls = 0;
      let failing = { from: 0, to: 0 };
      const client = (real: KubeClient) =>
        throughGate(real, () => {
          calls++;
          return calls < failing.from || calls >= failing.to;
        });
      await open({ client });
      // Each time a few calls in a row fail, a little later than the time before.
      for (const n of [1, 4, 8, 12, 16, 20, 25, 30]) {
        failing = { from: calls + n, to: calls + n + 4 };
        await world.openMergeRequest({ branch: `topic-${n}` });
        await world.allEnded(1, 60_000);
      }
      const tasks = await world.tasks();
      expect(tasks.map(({ status }) => status?.phase)).toEqual(tasks.map(() => "Completed"));
      expect(world.summaries()).toHaveLength(8);
      expect(world.notes()).toHaveLength(32);
    }, 90_000);
  });

  it("that GitLab keeps failing fails in the end, is reported once, and delays no other", async () => {
    await open({ env: { AGENT_PATIENCE: "4s" } });
    const bad = /merge_requests\/1\/versions/;
    world.gitlab.faults.failNext({ method: "GET", path: bad, status: 500, times: 1_000 });

    await world.openMergeRequest({ branch: "bad" });
    await world.openMergeRequest({ branch: "good", files: { "app.ts": lines("1", "2", "3") } });

    const tasks = await world.allEnded(2, 60_000);
    expect(tasks.map(({ status }) => status?.phase).sort()).toEqual(["Completed", "Failed"]);
    const posted = world.notes().filter(({ iid }) => iid === 1);
    expect(posted.map(({ body }) => body.split(":")[0])).toEqual(["⚠️ Automated review failed"]);
  });

  it("survives an outage of GitLab that lasts longer than all its attempts", async () => {
    await open({ env: { AGENT_MAX_ATTEMPTS: "1" } });
    world.gitlab.faults.failNext({ method: "GET", path: /merge_requests/, status: 502, times: 40 });

    await world.openMergeRequest();

    const [task] = await world.allEnded(1, 60_000);
    expect(task?.status).toMatchObject({ phase: "Completed", attempts: 1 });
    expect(world.notes()).toHaveLength(4);
  });

  it.each(["task.started", "task.ended"])(
    "completes although the ledger does not accept its %s at first",
    async (type) => {
      await open({ env: { AGENT_MAX_ATTEMPTS: "1" } });
      const { append } = world.ledger;
      let failures = 1;
      world.ledger.append = async (event) => {
        if (event.type === type && failures-- > 0) throw new LedgerError("full", "no space left");
        return append(event);
      };

      await world.openMergeRequest();

      const [task] = await world.allEnded(1);
      expect(task?.status).toMatchObject({ phase: "Completed", attempts: 1 });
      expect(world.notes()).toHaveLength(4);
    },
  );

  it("completes although the API server does not take a step of its only attempt at first", async () => {
    let failures = 1;
    const client = (real: KubeClient): KubeClient => ({
      ...real,
      async update(type, object, call) {
        const { status } = object as { readonly status?: CodingTaskStatus };
        const isDone = status?.steps?.some(({ name }) => name === coderStep);
        if (isDone && failures-- > 0) throw new KubeError("unavailable", "no response");
        return real.update(type, object, call);
      },
    });
    await open({ client, env: { AGENT_MAX_ATTEMPTS: "1" } });

    await world.openMergeRequest();

    const [task] = await world.allEnded(1);
    expect(failures).toBeLessThan(1);
    expect(task?.status).toMatchObject({ phase: "Completed", attempts: 1 });
  });

  it("reports that the branch was deleted", async () => {
    await open();
    const mr = await world.openMergeRequest({ title: "Draft: no review" });
    await world.gitlab.deleteBranch(world.project, "topic");

    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Failed", failure: { reason: "BranchMissing" } });
    expect(world.notes().at(-1)?.body).toContain("the branch topic does not exist");
  });

  it("waits while its token is rejected, and never repeats the token", async () => {
    await open();
    const mr = await world.openMergeRequest({ title: "Draft: no review" });
    world.gitlab.revokeToken(world.bot.token);

    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    await expect.poll(() => inspect(world.log.events, { depth: 20 })).toContain("401");
    const everything = inspect([await world.tasks(), world.log.events, world.ledger.events()], { depth: 20 });
    expect(everything).not.toContain(world.bot.token);
    const [task] = await world.tasks();
    expect(task?.status && "completionTime" in task.status).toBeFalsy();
  });

  describe("of a poll", () => {
    it("is the same as that of a webhook", async () => {
      await open({ env: polling });
      await world.gitlab.webhooks.settled();

      await world.openMergeRequest();

      await world.allEnded(1);
      await polls(3);
      expect(await world.tasks()).toHaveLength(1);
      expect(world.summaries()).toHaveLength(1);
    });

    it.each([
      ["ten minutes early", -600_000, 0],
      ["ten minutes late", 600_000, 0],
      ["of another time zone", 0, 330],
    ])("is found with a server clock %s", async (_what, skewMs, offsetMinutes) => {
      await open({ env: polling, gateways: 0 }, (world) => {
        world.gitlab.time.advance(skewMs);
        world.gitlab.time.offsetMinutes = offsetMinutes;
      });
      await polls(1);

      const mr = await world.openMergeRequest();
      // GitLab does not touch the merge request again within a minute.
      await world.gitlab.commentOn(mr, world.kim, "/copilot status");

      const tasks = await world.allEnded(2);
      expect(tasks.map(({ spec }) => spec.type).sort()).toEqual(["Command", "Review"]);
    });

    it("is not done again if it was deleted and is reported again", async () => {
      await open({ env: polling, gateways: 0 });
      await polls(1);
      const mr = await world.openMergeRequest();
      const [first] = await world.allEnded(1);
      const { name = "", namespace = "" } = first?.metadata ?? {};
      await world.client.delete(codingTasks, { name, namespace });

      const again = await world.openAgent();
      await world.gitlab.changeMergeRequest(mr, { title: "another title" });
      await polls(3);

      await expect.poll(async () => (await world.tasks()).length).toBeLessThanOrEqual(1);
      await world.allEnded(0);
      expect(world.notes()).toHaveLength(4);
      await again.close();
    });

    it("is not new after a restart with 50 open merge requests", async () => {
      world = await AgentWorld.open({ env: polling, gateways: 0, agents: 0 });
      for (let i = 0; i < 50; i++) {
        await world.openMergeRequest({ branch: `topic-${i}`, files: { [`f${i}.txt`]: lines("x") } });
      }
      // GitLab sends its time in whole seconds: everything in the second of the first poll is new.
      world.gitlab.time.advance(2_000);
      const first = await world.openAgent();
      await polls(2);
      await first.close();
      const before = world.gitlab.requests.count("GET");
      await world.openAgent();

      await expect.poll(() => world.gitlab.requests.count("GET")).toBeGreaterThan(before + 3);
      expect(await world.tasks()).toEqual([]);
      expect(world.notes()).toEqual([]);
    });
  });

  /** With agents that find three things, and add a file when they are asked to change something. */
  async function open(options: AgentWorldOptions = {}, prepare: (world: AgentWorld) => void = () => {}) {
    world = await AgentWorld.open({
      ...{ ...options, agents: 0 },
      script: () => ({
        cases: [
          { kind: "review", steps: [{ do: "answer", value: { summary: "Fine.", findings } }] },
          { kind: "edit", steps: [{ do: "write", path: "fixed.txt", text: lines("done") }] },
        ],
      }),
    });
    prepare(world);
    for (let i = 0; i < (options.agents ?? 1); i++) await world.openAgent();
  }

  async function polls(count: number): Promise<void> {
    const done = () => world.figure('agent_polls_total{source="gitlab",outcome="polled"}');
    const before = await done();
    await expect.poll(done).toBeGreaterThanOrEqual(before + count);
  }
});

/** The client, as long as `isOpen`; else there is no response. */
function throughGate(client: KubeClient, isOpen: () => boolean): KubeClient {
  const gated =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (!isOpen()) throw new KubeError("unavailable", "no response");
      return call(...args);
    };
  return {
    ...client,
    get: gated(client.get) as KubeClient["get"],
    create: gated(client.create) as KubeClient["create"],
    update: gated(client.update) as KubeClient["update"],
    patch: gated(client.patch) as KubeClient["patch"],
  };
}
