import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPolling } from "../../../src/app/index.ts";
import { loadConfig } from "../../../src/config/index.ts";
import { keyOf, memoryClaims } from "../../../src/coordination/index.ts";
import { promMetrics } from "../../../src/telemetry/index.ts";
import { FakeGitLab } from "./fake-gitlab.ts";
import { FakeJira } from "./fake-jira.ts";
import { PollingWorld } from "./polling-world.ts";

const [second, minute] = [1_000, 60_000];

describe("the setting", () => {
  let world: PollingWorld;
  let gitlab: FakeGitLab;
  let jira: FakeJira;
  let polling: { close(): Promise<void> } | undefined;

  beforeEach(async () => {
    world = await PollingWorld.open();
    gitlab = new FakeGitLab({ clock: world.clock });
    jira = new FakeJira(world.clock);
  });

  afterEach(async () => {
    const closed = polling?.close();
    await world.clock.advance(second);
    await closed;
    polling = undefined;
    await world.close();
  });

  it("gitlab.poll: nothing is polled without it", async () => {
    start({ GITLAB_POLL: "false" });
    await world.clock.advance(10 * minute);

    expect(gitlab.requests).toEqual([]);
  });

  it("gitlab.projects: only these are polled", async () => {
    start({ GITLAB_PROJECTS: "3, 4" });
    await world.clock.advance(minute);

    expect(new Set(gitlab.requests)).toEqual(
      new Set(["self", "project 3", "project 4", "merge requests of 3", "merge requests of 4"]),
    );
  });

  it("gitlab.pollInterval: the time between two polls", async () => {
    start({ GITLAB_POLL_INTERVAL: "2m" });
    await world.clock.advance(second);
    gitlab.requests.length = 0;
    await world.clock.advance(10 * minute);

    expect(gitlab.requests).toHaveLength(5);
  });

  it("gitlab.pollFrom: the start of the first poll", async () => {
    gitlab.open(1, { iid: 1 }, gitlab.nowMs - 59 * minute);
    gitlab.open(1, { iid: 2 }, gitlab.nowMs - 61 * minute);
    start({ GITLAB_POLL_FROM: "1h" });
    await world.clock.advance(minute);

    expect(await world.keys()).toEqual([expect.stringMatching(/^review:1:1:/)]);
  });

  it.each([
    ["GITLAB_REVIEW_DRAFTS", "true", 2],
    ["GITLAB_REVIEW_DRAFTS", "false", 1],
    ["GITLAB_SKIP_LABELS", "Later", 0],
    ["GITLAB_REQUIRED_LABELS", "Later", 1],
    ["GITLAB_REQUIRED_LABELS", "Now", 0],
  ])("%s=%s: the number of reviews", async (name, value, reviews) => {
    start({ [name]: value });
    await world.clock.advance(minute);
    gitlab.open(1, { draft: true });
    gitlab.open(1, { labels: ["later"] });
    await world.clock.advance(minute);

    expect(await world.keys()).toHaveLength(reviews);
  });

  it("gitlab.username: the name that counts, without a request to GitLab", async () => {
    const item = gitlab.open(1, {}, gitlab.nowMs - 60 * minute);
    start({ AGENT_GITLAB_USERNAME: "helper" });
    await world.clock.advance(minute);
    gitlab.comment(item, "@bot fix it");
    gitlab.comment(item, "@helper fix it");
    await world.clock.advance(minute);

    expect((await world.tasks()).filter(({ spec }) => spec.type === "Command")).toHaveLength(1);
    expect(gitlab.requests).not.toContain("self");
  });

  it("watermarks.overlap: the distance of the watermark to the server's clock", async () => {
    start({}, "watermarks:\n  overlap: 7m\n");
    await world.clock.advance(60 * minute);

    const record = await world.watermarks.read(keyOf("gitlab", "gitlab.example.com", 1, "notes"));
    const behindMs = gitlab.nowMs - Date.parse(record?.cursor.updatedAt ?? "");
    expect(behindMs).toBeGreaterThanOrEqual(7 * minute);
    expect(behindMs).toBeLessThan(8 * minute);
  });

  it("agent.namespace: the namespace of tasks", async () => {
    await world.client.create(
      { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "elsewhere" } },
    );
    start({}, "agent:\n  namespace: elsewhere\n");
    await world.clock.advance(minute);
    gitlab.open(1);
    await world.clock.advance(minute);

    expect((await world.tasks()).map(({ metadata }) => metadata.namespace)).toEqual(["elsewhere"]);
  });

  it("jira.projects and jira.triggerStatus: the issues and their projects", async () => {
    jira.move("SHOP-1", "Go");
    jira.move("OPS-1", "Ready for AI");
    jira.move("SHOP-2", "AI Ready");
    start({ JIRA_PROJECT_MAP: "SHOP -> 5@dev; OPS -> 6, trigger=Ready for AI", JIRA_TRIGGER_STATUS: "Go" });
    await world.clock.advance(minute);

    const issues = (await world.tasks()).map(({ spec }) =>
      spec.type === "Issue" ? [spec.issue.key, spec.project.id, spec.targetBranch] : [],
    );
    expect(issues.sort()).toEqual([
      ["OPS-1", 6, "trunk"],
      ["SHOP-1", 5, "dev"],
    ]);
  });

  it("jira.pollInterval: the time between two polls", async () => {
    start({ JIRA_PROJECT_MAP: "SHOP -> 5", JIRA_POLL_INTERVAL: "2m" });
    await world.clock.advance(second);
    jira.requests.length = 0;
    await world.clock.advance(10 * minute);

    expect(jira.requests).toHaveLength(5);
  });

  function start(env: Readonly<Record<string, string>>, yaml = "") {
    const usual = {
      GITLAB_URL: "https://gitlab.example.com",
      GITLAB_TOKEN: "t",
      GITLAB_PROJECTS: "1",
      GITLAB_POLL: "true",
    };
    const account = { JIRA_URL: "https://example.atlassian.net", JIRA_EMAIL: "a@b", JIRA_API_TOKEN: "t" };
    const isJira = "JIRA_PROJECT_MAP" in env;
    const loaded = loadConfig({
      yaml: { path: "interlock.yaml", text: yaml },
      env: { ...usual, ...(isJira ? account : {}), ...env },
    });
    if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
    const { client, ledger, clock, random, log, locks, watermarks } = world;
    const claims = memoryClaims({ clock, random, who: "test" });
    polling = openPolling({
      config: loaded.config,
      client,
      ledger,
      coordination: { locks, watermarks, claims, close: async () => {} },
      gitlab: gitlab.port(),
      jira: isJira ? jira.port() : undefined,
      clock,
      random,
      log,
      metrics: promMetrics(),
    });
  }
});
