import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RemoteError } from "../../../src/agent/index.ts";
import { type KubeClient, KubeError } from "../../../src/kube/index.ts";
import { type CodingTask, codingTasks } from "../../../src/resources/index.ts";
import { gitlabWebhooks } from "../../../src/sources/index.ts";
import { draftTask, taskIntake } from "../../../src/tasks/index.ts";
import { FakeGitLab } from "./fake-gitlab.ts";
import { PollingWorld } from "./polling-world.ts";

const [second, minute] = [1_000, 60_000];

describe("a polled project", () => {
  let world: PollingWorld;
  let gitlab: FakeGitLab;

  beforeEach(async () => {
    world = await PollingWorld.open();
    gitlab = new FakeGitLab({ clock: world.clock });
  });
  afterEach(() => world.close());

  it("starts now: older items are not reviewed", async () => {
    for (let i = 1; i <= 50; i++) gitlab.open(1, { iid: i }, gitlab.nowMs - i * second);
    await world.clock.advance(second);

    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(10 * minute);

    expect(await world.keys()).toEqual([]);
  });

  it("starts earlier if it is configured so", async () => {
    gitlab.open(1, { iid: 1 }, gitlab.nowMs - 61 * minute);
    gitlab.open(1, { iid: 2 }, gitlab.nowMs - 59 * minute);

    world.start({ gitlab: gitlab.port(), from: 60 * minute });
    await world.clock.advance(second);

    expect(await world.keys()).toEqual([`review:1:2:${"2".padStart(40, "0")}`]);
  });

  it("has its new merge requests and commits reviewed, each head once", async () => {
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    const opened = gitlab.open(1, { iid: 1, headSha: "a".repeat(40) });
    await world.clock.advance(5 * minute);
    gitlab.touch(opened, { headSha: "b".repeat(40) });
    await world.clock.advance(5 * minute);

    expect(await world.keys()).toEqual([`review:1:1:${"a".repeat(40)}`, `review:1:1:${"b".repeat(40)}`]);
    expect(world.ledger.events().filter(({ type }) => type === "task.received")).toHaveLength(2);
  });

  it("has ignored items recorded once, however often they are found", async () => {
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    const opened = gitlab.open(1, { iid: 1, draft: true });
    const note = gitlab.comment(opened, "looks good");
    await world.clock.advance(5 * minute);

    const ignored = world.ledger.events().filter(({ type }) => type === "task.ignored");
    expect(ignored.map(({ facts }) => facts)).toEqual([
      expect.objectContaining({ reason: "Draft", source: "poll", target_resource: "gitlab.example.com/group/p1!1" }),
      expect.objectContaining({ reason: "NotForUs", source: "poll", note, by: "ada" }),
    ]);
  });

  it.each([
    ["a draft", { draft: true }],
    ["one with a label to skip", { labels: ["Later"] }],
    ["a closed one", { state: "closed" as const }],
    ["one without a commit", { headSha: undefined }],
  ])("has %s not reviewed", async (_what, change) => {
    world.start({ gitlab: gitlab.port(), rules: { reviewDrafts: false, skipLabels: ["later"] } });
    await world.clock.advance(minute);

    gitlab.open(1, change as object);
    await world.clock.advance(5 * minute);

    expect(await world.keys()).toEqual([]);
  });

  it("has its commands carried out, each comment once", async () => {
    const item = gitlab.open(1, { iid: 7 }, gitlab.nowMs - 60 * minute);
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    const id = gitlab.comment(item, "/copilot fix it");
    gitlab.comment(item, "looks good");
    await world.clock.advance(10 * minute);

    expect(await world.keys()).toContainEqual(`note:1:7:${id}`);
    expect((await world.tasks()).filter(({ spec }) => spec.type === "Command")).toHaveLength(1);
  });

  it("reads its own user name from GitLab without a setting", async () => {
    const item = gitlab.open(1, {}, gitlab.nowMs - 60 * minute);
    world.start({ gitlab: gitlab.port(), rules: { reviewDrafts: false, skipLabels: [] } });
    await world.clock.advance(minute);

    gitlab.comment(item, "well, @bot, status");
    await world.clock.advance(minute);

    expect((await world.tasks()).map(({ spec }) => spec.type)).toContain("Command");
  });

  it("finds a comment within 60 s of a change, which leaves no trace", async () => {
    const item = gitlab.open(1, { iid: 7 }, gitlab.nowMs - 60 * minute);
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    for (let i = 0; i < 12; i++) {
      gitlab.comment(item, `/copilot ${i}`);
      await world.clock.advance(7 * second);
    }
    await world.clock.advance(10 * minute);

    const commands = (await world.tasks()).filter(({ spec }) => spec.type === "Command");
    expect(commands).toHaveLength(12);
  });

  it("finds a push within 60 s of a change, which leaves no trace", async () => {
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);
    const item = gitlab.open(1, { iid: 7, headSha: "a".repeat(40) });
    await world.clock.advance(40 * second);

    gitlab.touch(item, { headSha: "b".repeat(40) });
    await world.clock.advance(10 * minute);

    expect(await world.keys()).toContainEqual(`review:1:7:${"b".repeat(40)}`);
  });

  it("finds a comment that becomes visible late", async () => {
    const item = gitlab.open(1, { iid: 7 }, gitlab.nowMs - 60 * minute);
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    gitlab.comment(item, "first");
    await world.clock.advance(50 * second);
    const id = gitlab.comment(item, "/copilot late", 59 * second);
    await world.clock.advance(10 * minute);

    expect(await world.keys()).toContainEqual(`note:1:7:${id}`);
  });

  it("finds a comment that is made during a poll in the next poll", async () => {
    const item = gitlab.open(1, { iid: 7 }, gitlab.nowMs - 60 * minute);
    const port = gitlab.port();
    let duringPoll: (() => void) | undefined;
    const list: typeof port.mergeRequestsSince = async (...call) => {
      const t0 = await port.mergeRequestsSince(...call);
      // T1: the list of this poll exists, and its end, T2, follows later.
      duringPoll?.();
      duringPoll = undefined;
      return t0;
    };
    world.start({ gitlab: { ...port, mergeRequestsSince: list } });
    await world.clock.advance(5 * minute);

    let id = 0;
    duringPoll = () => {
      id = gitlab.comment(item, "/copilot fix it");
    };
    await world.clock.advance(30 * second);
    expect(id).toBeGreaterThan(0);
    expect(await world.keys()).not.toContainEqual(`note:1:7:${id}`);
    await world.clock.advance(30 * second);

    expect(await world.keys()).toContainEqual(`note:1:7:${id}`);
  });

  it.each([
    [-10 * minute, "Z"],
    [10 * minute, "Z"],
    [0, "+05:30"],
    [-10 * minute, "-08:00"],
    [10 * minute, "+14:00"],
  ])("is polled by its server's clock, which is %i ms off and writes %s", async (skewMs, offset) => {
    gitlab = new FakeGitLab({ clock: world.clock, skewMs, offset });
    gitlab.open(1, { iid: 1 }, gitlab.nowMs - 90 * second);
    const item = gitlab.open(1, { iid: 7 }, gitlab.nowMs - 30 * minute);
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    gitlab.open(1, { iid: 2 });
    const id = gitlab.comment(item, "/copilot fix it");
    await world.clock.advance(10 * minute);

    const keys = await world.keys();
    expect(keys).toContainEqual(`note:1:7:${id}`);
    expect(keys).toContainEqual(`review:1:2:${"2".padStart(40, "0")}`);
    expect(keys.filter((key) => key.startsWith("review:1:1:"))).toEqual([]);
  });

  it("is read completely if there is more than a page, or a list", async () => {
    const port = gitlab.port();
    // A client that returns at most 120 items unless a larger limit is requested.
    const list: typeof port.mergeRequestsSince = (id, { from, limit = 120 }) =>
      port.mergeRequestsSince(id, { from, limit });
    world.start({ gitlab: { ...port, mergeRequestsSince: list } });
    await world.clock.advance(minute);

    for (let i = 1; i <= 450; i++) gitlab.open(1, { iid: i });
    await world.clock.advance(5 * minute);

    expect(await world.keys()).toHaveLength(450);
  });

  it("continues at its position after a restart, without reading 50 open merge requests again", async () => {
    const first = world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);
    for (let i = 1; i <= 50; i++) gitlab.open(1, { iid: i });
    await world.clock.advance(10 * minute);
    for (const { metadata } of await world.tasks()) {
      // Older than the watermark.
      await world.client.delete(codingTasks, { namespace: "kubernaut-system", name: metadata.name ?? "" });
    }
    await world.stop(first);
    await world.clock.advance(2 * 60 * minute);
    const missed = gitlab.open(1, { iid: 51 });

    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(10 * minute);

    expect(await world.keys()).toEqual([`review:1:51:${missed.headSha}`]);
  });

  it("misses nothing that happened while no replica polled", async () => {
    const item = gitlab.open(1, { iid: 7 }, gitlab.nowMs - 60 * minute);
    const first = world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);
    await world.stop(first);
    const ids = [];
    for (let i = 0; i < 20; i++) {
      ids.push(gitlab.comment(item, `/copilot ${i}`));
      await world.clock.advance(10 * minute);
    }

    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    expect(await world.keys()).toEqual(expect.arrayContaining(ids.map((id) => `note:1:7:${id}`)));
  });

  it("costs at most 2.2 requests per cycle with nothing new, for 50 projects with 20 merge requests each", async () => {
    const projects = Array.from({ length: 50 }, (_, i) => String(i + 1));
    for (const project of projects) for (let i = 0; i < 20; i++) gitlab.open(Number(project));
    world.start({ gitlab: gitlab.port(), projects });
    await world.clock.advance(minute);
    // The latest event in each project is one comment, two minutes before the measurement.
    for (const project of projects) gitlab.open(Number(project));
    await world.clock.advance(2 * minute + 30 * second);
    gitlab.requests.length = 0;

    const cycles = 20;
    await world.clock.advance(cycles * 30 * second);

    const perProject = gitlab.requests.length / (cycles * projects.length);
    expect(perProject).toBeGreaterThanOrEqual(1);
    expect(perProject).toBeLessThanOrEqual(2.2);
  });

  it("that fails waits longer each time, alone, and as long as the server asks", async () => {
    world.start({ gitlab: gitlab.port(), projects: ["1", "2"] });
    await world.clock.advance(minute);
    gitlab.fault = (call) => (call.endsWith(" 1") ? new RemoteError("unavailable", "down") : undefined);
    gitlab.requests.length = 0;
    await world.clock.advance(30 * minute);
    const of = (id: number) => gitlab.requests.filter((call) => call.endsWith(` ${id}`)).length;

    expect(of(2)).toBeGreaterThanOrEqual(60);
    expect(of(1)).toBeLessThan(12);
    expect(world.log.events.map(({ event }) => event)).toContain("project poll failed");

    gitlab.fault = () => undefined;
    gitlab.open(1, { iid: 1 });
    await world.clock.advance(10 * minute);
    expect(await world.keys()).toHaveLength(1);

    gitlab.requests.length = 0;
    gitlab.fault = (call) =>
      call.endsWith(" 1") ? new RemoteError("unavailable", "slow down", { retryAfterMs: 20 * minute }) : undefined;
    await world.clock.advance(20 * minute);
    expect(of(1)).toBe(1);
  });

  it("that does not exist delays no other", async () => {
    world.start({ gitlab: gitlab.port(), projects: ["group/typo", "2"] });
    await world.clock.advance(minute);
    gitlab.open(2, { iid: 1 });
    await world.clock.advance(minute);

    expect(await world.keys()).toHaveLength(1);
    expect(world.log.events).toContainEqual(
      expect.objectContaining({
        event: "project poll failed",
        fields: expect.objectContaining({ project: "group/typo" }),
      }),
    );
  });

  it("abandons an item that cannot become a task, after a few attempts and with an error, and continues", async () => {
    const item = gitlab.open(1, { iid: 7 }, gitlab.nowMs - 60 * minute);
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    gitlab.open(1, { iid: 1, sourceBranch: "x".repeat(300) });
    gitlab.open(1, { iid: 2 });
    const id = gitlab.comment(item, "/copilot fix it");
    await world.clock.advance(30 * second);
    const soon = await world.keys();
    await world.clock.advance(60 * minute);
    gitlab.requests.length = 0;
    await world.clock.advance(minute);

    expect(soon).toContainEqual(`note:1:7:${id}`);
    expect(soon).toContainEqual(`review:1:2:${"2".padStart(40, "0")}`);
    const errors = world.log.events.filter(({ level }) => level === "error");
    expect(errors).toEqual([
      expect.objectContaining({
        event: "poll item abandoned",
        fields: expect.objectContaining({ item: "merge request group/p1!1", tries: 3 }),
      }),
    ]);
    // It is older than the watermark, so it is no longer listed.
    expect(gitlab.requests).toEqual(["merge requests of 1", "merge requests of 1"]);
  });

  it("continues if the notes of one merge request cannot be read", async () => {
    const [bad, gone, good] = [7, 8, 9].map((iid) => gitlab.open(1, { iid }, gitlab.nowMs - 60 * minute));
    if (!bad || !gone || !good) throw new Error("they are there");
    gitlab.fault = (call) => {
      if (call === "notes of 1!7") return new RemoteError("refused", "500 for this one alone");
      return call === "notes of 1!8" ? new RemoteError("missing", "it is gone") : undefined;
    };
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);

    for (const item of [bad, gone, good]) gitlab.comment(item, "/copilot fix it");
    await world.clock.advance(20 * minute);

    const commands = (await world.tasks()).filter(({ spec }) => spec.type === "Command");
    expect(commands.map(({ spec }) => "mergeRequest" in spec && spec.mergeRequest.iid)).toEqual([9]);
    expect(world.log.events.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  it("retries an item while the API server is unavailable, without counting", async () => {
    let isDown = true;
    const create = (async (...call: Parameters<KubeClient["create"]>) => {
      if (isDown) throw new KubeError("unavailable", "no answer");
      return world.client.create(...call);
    }) as KubeClient["create"];
    const { ledger, log, client } = world;
    const intake = taskIntake({ client: { ...client, create }, ledger, log, namespace: "kubernaut-system" });
    world.start({ gitlab: gitlab.port(), intake });
    await world.clock.advance(minute);

    gitlab.open(1, { iid: 1 });
    await world.clock.advance(60 * minute);
    isDown = false;
    await world.clock.advance(10 * minute);

    expect(await world.keys()).toHaveLength(1);
    expect(world.log.events.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("is polled by one of several processes, and by another when that one stops", async () => {
    const first = world.start({ gitlab: gitlab.port() });
    const other = new FakeGitLab({ clock: world.clock });
    world.start({ gitlab: other.port() });
    await world.clock.advance(5 * minute);
    expect(other.requests).toEqual([]);

    await world.stop(first);
    await world.clock.advance(minute);

    expect(other.requests.length).toBeGreaterThan(0);
  });

  it("is left to the leader with the larger fence", async () => {
    const stale = world.start({ gitlab: gitlab.port() }, 1n);
    await world.clock.advance(10 * minute);
    world.start({ gitlab: gitlab.port() }, 2n);
    await world.clock.advance(minute);
    gitlab.open(1, { iid: 1 });
    await world.clock.advance(10 * minute);

    await stale.ended;
    expect(await world.keys()).toHaveLength(1);
    expect(world.log.events.map(({ event }) => event)).toContain("gitlab polling superseded");
    const late = world.start({ gitlab: gitlab.port() }, 1n);
    await world.clock.advance(minute);
    await late.ended;
  });

  it("has one task of each item, by a webhook, a poll, or both", async () => {
    world.start({ gitlab: gitlab.port() });
    await world.clock.advance(minute);
    const opened = gitlab.open(1, { iid: 1 });
    await world.clock.advance(30 * second);
    const [polled] = await world.tasks();

    const reader = gitlabWebhooks({ host: "gitlab.example.com", reviewDrafts: false, skipLabels: [] });
    const { outcome } = reader.read(
      {
        object_kind: "merge_request",
        project: { id: 1, path_with_namespace: "group/p1" },
        object_attributes: {
          iid: opened.iid,
          action: "open",
          state: "opened",
          source_branch: opened.sourceBranch,
          target_branch: opened.targetBranch,
          last_commit: { id: opened.headSha },
        },
      },
      "2026-11-15T06:00:00.000Z",
    );

    if (outcome.kind !== "task") throw new Error("it has to be a task");
    const reading = draftTask(outcome.draft, "kubernaut-system");
    const posted: CodingTask | undefined = reading.kind === "task" ? reading.task : undefined;
    expect(posted?.metadata.name).toBe(polled?.metadata.name);
    expect(posted?.spec.targetResource).toBe(polled?.spec.targetResource);
  });
});
