import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gitlabHttp, pollAll } from "../../../src/agent/index.ts";
import { memoryLocks, memoryWatermarks } from "../../../src/coordination/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { memoryLedger } from "../../../src/ledger/index.ts";
import { codingTasks, installCrds } from "../../../src/resources/index.ts";
import { taskIntake } from "../../../src/tasks/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import type { User } from "../../doubles/gitlab/model.ts";
import { type GitLabDouble, startGitLab } from "../../doubles/gitlab/start-gitlab.ts";
import { recordingLogger } from "../../doubles/recording-logger.ts";
import { testCluster } from "../../doubles/test-cluster.ts";

const namespace = "kubernaut-system";
const [clock, random] = [systemClock(), systemRandom()];

describe("a poller over HTTP", () => {
  let server: GitLabDouble;
  let [bot, ann]: User[] = [];
  let client: KubeClient;
  let polls: number;
  let stop: AbortController;
  let polling: Promise<void> | undefined;
  const log = recordingLogger();

  beforeEach(async () => {
    server = await startGitLab();
    [bot, ann] = [server.addUser("bot"), server.addUser("ann")];
    client = testCluster({ clock, random, namespaces: [namespace] }).client();
    await installCrds(client);
    polls = 0;
    stop = new AbortController();
  });

  afterEach(async () => {
    stop.abort();
    await polling;
    await server.close();
  });

  it.each([
    [0, 0],
    [10, 330],
    [-10, -480],
  ])("finds each review and command once, with a server %i minutes ahead at an offset of %i", async (ahead, offset) => {
    server.time.advance(ahead * 60_000);
    server.time.offsetMinutes = offset;
    const project = await server.addProject({ path: "group/app", branches: { old: {}, topic: { "a.txt": "a\n" } } });
    await server.openMergeRequest(project, { sourceBranch: "old", targetBranch: "main", title: "Old" });
    server.time.advance(2_000);
    start([project.path]);
    await polled(1);

    server.time.advance(2_000);
    const mr = await server.openMergeRequest(project, { sourceBranch: "topic", targetBranch: "main", title: "New" });
    const first = await server.commentOn(mr, person(ann), "/copilot fix it");
    server.time.advance(20_000);
    // Within 60 s of the last change: the merge request does not show it.
    const second = await server.commentOn(mr, person(ann), "well, @bot, status?");
    await server.commentOn(mr, person(ann), "looks good");
    await server.commentOn(mr, person(bot), "@bot fix it");
    await polled(2);

    const tasks = (await client.list(codingTasks)).items.map(({ spec }) => spec);
    expect(tasks.map(({ type }) => type).sort()).toEqual(["Command", "Command", "Review"]);
    const notes = tasks.flatMap((spec) => (spec.type === "Command" ? [spec.note.id] : []));
    expect(notes.sort()).toEqual([first.id, second.id].sort());
    expect(log.events.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("sends one request per cycle with nothing new", async () => {
    const project = await server.addProject({ path: "group/app", branches: { topic: { "a.txt": "a\n" } } });
    start([String(project.id)]);
    await polled(1);
    const mr = await server.openMergeRequest(project, { sourceBranch: "topic", targetBranch: "main", title: "New" });
    await server.commentOn(mr, person(ann), "/copilot fix it");
    await polled(2);
    server.time.advance(130_000);
    await polled(2);

    // The merge request is still listed, because of the overlap, and its notes are known to be read.
    const before = { polls, requests: server.requests.count("GET") };
    await polled(5);
    const after = { polls, requests: server.requests.count("GET") };

    // One more request may be in progress.
    expect(after.requests - before.requests).toBeLessThanOrEqual(after.polls - before.polls + 1);
    expect((await client.list(codingTasks)).items).toHaveLength(2);
  });

  /** So many polls from now on have ended that began after this. */
  async function polled(more: number): Promise<void> {
    const enough = polls + more + 1;
    await expect.poll(() => polls, { interval: 5 }).toBeGreaterThanOrEqual(enough);
  }

  function start(projects: readonly string[]) {
    const gitlab = gitlabHttp({
      url: server.url,
      token: async () => person(bot).token,
      timeLimitMs: 10_000,
      clock,
      random,
    });
    polling = pollAll(
      {
        gitlab,
        projects,
        rules: { reviewDrafts: false, skipLabels: [] },
        intervalMs: 10,
        from: "now",
        overlapMs: 60_000,
        intake: taskIntake({ client, ledger: memoryLedger(), namespace, log }),
        locks: memoryLocks({ clock, random, who: "test" }),
        watermarks: memoryWatermarks(),
        observe: (watermark) => watermark,
        countPoll: (_source, outcome) => void (outcome === "polled" && polls++),
        clock,
        random,
        log,
        signal: stop.signal,
      },
      1n,
      stop.signal,
    );
  }
});

function person(user: User | undefined): User {
  if (!user) throw new TypeError("unknown user");
  return user;
}
