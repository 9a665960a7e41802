import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pollCounter, pollJira, RemoteError } from "../../../src/agent/index.ts";
import { codingTasks } from "../../../src/resources/index.ts";
import { taskIntake } from "../../../src/tasks/index.ts";
import { promMetrics } from "../../../src/telemetry/index.ts";
import { FakeGitLab } from "./fake-gitlab.ts";
import { FakeJira } from "./fake-jira.ts";
import { PollingWorld } from "./polling-world.ts";

const [second, minute] = [1_000, 60_000];
const shop = { project: "SHOP", repository: "5", triggerStatus: "AI Ready" };

describe("a project of Jira", () => {
  let world: PollingWorld;
  let jira: FakeJira;
  let gitlab: FakeGitLab;
  let stop: AbortController;
  let ended: Promise<void> | undefined;

  beforeEach(async () => {
    world = await PollingWorld.open();
    jira = new FakeJira(world.clock);
    gitlab = new FakeGitLab({ clock: world.clock });
    stop = new AbortController();
  });

  afterEach(async () => {
    stop.abort();
    await world.clock.advance(1_000);
    await ended;
    await world.close();
  });

  it("has an issue in the trigger status solved, however long it is there", async () => {
    jira.move("SHOP-1", "AI Ready");
    jira.move("SHOP-2", "To Do");
    const since = new Date(world.clock.wallMs()).toISOString();

    start();
    await world.clock.advance(5 * minute);

    const [task, ...others] = await world.tasks();
    expect(others).toEqual([]);
    expect(task?.spec).toMatchObject({
      type: "Issue",
      claimKey: `jira:example.atlassian.net:SHOP-1:${since}`,
      project: { host: "gitlab.example.com", id: 5, path: "group/p5" },
      issue: { site: "example.atlassian.net", key: "SHOP-1", since, summary: "s SHOP-1", description: "d" },
      branch: "agent/shop-1",
      targetBranch: "trunk",
      targetResource: "git:gitlab.example.com/5@agent/shop-1",
      source: "poll",
      requestedBy: "ada",
    });
  });

  it("has merge requests to its configured branch", async () => {
    jira.move("SHOP-1", "AI Ready");

    start({ sources: [{ ...shop, targetBranch: "develop" }] });
    await world.clock.advance(second);

    expect((await world.tasks())[0]?.spec).toMatchObject({ targetBranch: "develop" });
  });

  it("has merge requests to the default branch of the moment", async () => {
    start();
    jira.move("SHOP-1", "AI Ready");
    await world.clock.advance(minute);
    gitlab.defaultBranch = "main";
    jira.move("SHOP-2", "AI Ready");
    await world.clock.advance(minute);

    const branches = (await world.tasks()).map(({ spec }) => spec.type === "Issue" && spec.targetBranch);
    expect(branches.sort()).toEqual(["main", "trunk"]);
  });

  it("has an issue solved again after it was moved back, and not before", async () => {
    start();
    jira.move("SHOP-1", "AI Ready");
    await world.clock.advance(minute);
    jira.move("SHOP-1", "In Progress");
    await world.clock.advance(minute);
    expect(await world.tasks()).toHaveLength(1);

    jira.move("SHOP-1", "AI Ready");
    await world.clock.advance(minute);

    expect(await world.tasks()).toHaveLength(2);
  });

  it("may have an outdated search index", async () => {
    jira.lagMs = 10 * minute;
    start();
    jira.move("SHOP-1", "AI Ready");
    await world.clock.advance(9 * minute);
    jira.move("SHOP-1", "In Progress");
    await world.clock.advance(30 * minute);

    expect(jira.requests).toContain("issue SHOP-1");
    expect(await world.tasks()).toEqual([]);
  });

  it("costs one request per cycle with nothing new", async () => {
    for (let i = 1; i <= 20; i++) jira.move(`SHOP-${i}`, "AI Ready");
    start();
    await world.clock.advance(minute);
    jira.requests.length = 0;
    gitlab.requests.length = 0;

    await world.clock.advance(10 * 30 * second);

    expect(jira.requests).toHaveLength(10);
    expect(gitlab.requests).toEqual([]);
  });

  it("creates no second task after a restart", async () => {
    jira.move("SHOP-1", "AI Ready");
    start();
    await world.clock.advance(minute);
    stop.abort();
    await world.clock.advance(second);
    await ended;

    stop = new AbortController();
    start();
    await world.clock.advance(minute);

    expect((await world.client.list(codingTasks)).items).toHaveLength(1);
  });

  it("that fails waits alone", async () => {
    jira.fault = (call) => (call === "issues of SHOP" ? new RemoteError("unavailable", "down") : undefined);
    jira.move("OPS-1", "AI Ready");

    start({ sources: [shop, { ...shop, project: "OPS" }] });
    await world.clock.advance(30 * minute);

    const of = (name: string) => jira.requests.filter((call) => call === `issues of ${name}`).length;
    expect(of("OPS")).toBeGreaterThanOrEqual(60);
    expect(of("SHOP")).toBeLessThan(12);
    expect(await world.tasks()).toHaveLength(1);
  });

  it("abandons an issue that cannot become a task, with an error, and continues", async () => {
    jira.move("SHOP-1", "AI Ready", { statusSince: "yesterday" });
    jira.move("SHOP-2", "AI Ready");
    jira.move("SHOP-3", "AI Ready");
    jira.fault = (call) => (call === "issue SHOP-3" ? new RemoteError("refused", "not this one") : undefined);

    start();
    await world.clock.advance(10 * minute);

    expect((await world.tasks()).map(({ spec }) => spec.type === "Issue" && spec.issue.key)).toEqual(["SHOP-2"]);
    const errors = world.log.events.filter(({ level }) => level === "error");
    expect(errors.map(({ fields }) => fields["item"])).toEqual(["issue SHOP-1 since yesterday", "issue SHOP-3"]);
    expect(jira.requests.filter((call) => call === "issue SHOP-1")).toHaveLength(3);
  });

  function start(options: { readonly sources?: Parameters<typeof pollJira>[0]["sources"] } = {}) {
    const { client, ledger, log, clock, random, locks } = world;
    ended = pollJira({
      jira: jira.port(),
      gitlab: gitlab.port(),
      sources: [shop],
      intervalMs: 30_000,
      intake: taskIntake({ client, ledger, namespace: "kubernaut-system", log }),
      locks,
      countPoll: pollCounter(promMetrics()),
      clock,
      random,
      log,
      signal: stop.signal,
      ...options,
    });
  }
});
