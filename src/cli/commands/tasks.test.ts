import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import type { KubeClient } from "../../kube/index.ts";
import {
  type CodingTask,
  type CodingTaskStatus,
  codingTasks,
  installCrds,
  readCancelRequest,
} from "../../resources/index.ts";
import { draftTask, type TaskDraft } from "../../tasks/index.ts";
import { systemRandom } from "../../time/index.ts";

const time = "2026-03-01T12:00:00.000Z";
const branch = "git:gitlab.example/7@topic";

let cli: TestCli;
let clock: ManualClock;
beforeEach(async () => {
  clock = new ManualClock();
  const client = testCluster({ clock, random: systemRandom(), namespaces: ["kubernaut-system"] }).client();
  await installCrds(client);
  cli = new TestCli(client);
});

describe("interlock get tasks", () => {
  it("shows the request of each task, its progress and its place in the queue", async () => {
    const name = await store(command(1), { phase: "Waiting", position: 2, message: "in line" });

    await store(command(2), { phase: "Waiting", pause: { name: "pause-1", requestedBy: "kim", reason: "upgrade" } });

    await cli.run("get", "tasks");

    const [head = "", row = "", paused = ""] = cli.read().split("\n");
    expect(head).toMatch(/^NAME +PHASE +TYPE +PROJECT +MR +ISSUE +POSITION +PAUSED +STALLED +AGE$/);
    expect(row.split(/ +/).slice(0, 6)).toEqual([shortened(name), "Waiting", "Command", "group/app", "3", "2"]);
    expect(paused.split(/ +/).slice(4, 6)).toEqual(["3", "pause-1"]);
  });
});

describe("interlock why, of a coding task,", () => {
  it("shows who requested it, its progress, and how to stop it", async () => {
    const steps = [{ name: "agent", completedAt: time, result: { summary: "Renamed.", files: "a\nb" } }];
    const name = await store(command(1), { phase: "Running", startTime: time, attempts: 2, steps });

    const text = await why(shortened(name));

    expect(text).toContain(`${shortened(name)}: comment 1 on group/app!3: /copilot rename it`);
    expect(text).toMatch(/phase +Running/);
    expect(text).toMatch(new RegExp(`requested +by ann, at ${time}, reported by webhook`));
    expect(text).toMatch(/branch +git:gitlab.example\/7@topic/);
    expect(text).toMatch(new RegExp(`done +agent at ${time}, summary Renamed\\.$`, "m"));
    expect(text).toMatch(/attempts +2/);
    expect(text).toContain(`to stop it: interlock cancel ${shortened(name)} --reason`);
  });

  it("prints the reason of a wait", async () => {
    const holder = { identity: "ct-other", since: time };
    const name = await store(command(1), { phase: "Waiting", position: 1, holder, message: "in line" });

    expect(await why(name)).toMatch(new RegExp(`waits for +ct-other, at work since ${time}`));
  });

  it("shows why it failed, and how to retry it", async () => {
    const failure = { reason: "Timeout", message: "It took too long." };
    const name = await store(command(1), { phase: "Failed", startTime: time, completionTime: time, failure });

    const text = await why(name);

    expect(text).toMatch(/failed +Timeout: It took too long\./);
    expect(text).toContain("to retry, write /copilot retry on the merge request");
  });

  it("lists each task on a branch, the oldest first, and no other", async () => {
    const first = await store(command(1));
    await clock.advance(1_000);
    const second = await store(command(2));
    await store(command(3, "other"));

    const text = await why(branch);

    const names = [...text.matchAll(/^(ct-\S+): /gm)].map(([, name]) => name);
    expect(names).toEqual([first, second].map(shortened));
  });

  it("reports that it is paused, by whom and why, when that clears, and what can be done", async () => {
    const name = await store(command(1));
    await cli.run("pause", "target", "git:gitlab.example/7", "--reason", "upgrade", "--for", "2h");
    const until = /until (\S+)\n/.exec(cli.read())?.[1] ?? "";

    const text = await why(name);

    expect(text).toContain("/copilot rename it: not now, Paused\n");
    expect(text).toMatch(/^ {2}paused +pause-\w+ by kim \(unverified\) \(upgrade\)$/m);
    expect(text).toMatch(new RegExp(`^ {2}clears +at ${until}$`, "m"));
    expect(text).toMatch(/^ {2}next +wait, or end it: interlock resume pause-\w+ --reason/m);
  });

  it("reports that a task that has begun continues in spite of a pause", async () => {
    const steps = [{ name: "started", completedAt: time }];
    const name = await store(command(1), { phase: "Running", startTime: time, steps });
    await cli.run("pause", "all", "--reason", "upgrade");

    const text = await why(name);

    expect(text).toMatch(/^ {2}paused +pause-\w+ by kim .*; it continues$/m);
    expect(text).not.toContain("not now");
  });

  it.each(["git:gitlab.example/7@topic", "git:gitlab.example/7", "git:https://gitlab.example/7.git@nowhere"])(
    "reports for %s that nothing starts there, and why, whether or not a task waits",
    async (place) => {
      await cli.run("pause", "all", "--reason", "upgrade");

      const text = await why(place);

      expect(text).toMatch(/a coding task on git:gitlab\.example\/7\S*: not now, Paused\n {2}paused: pause-\w+ by kim/);
      expect(text).toMatch(/next: wait, or end it: interlock resume pause-\w+/);
    },
  );

  it("lists each task in a repository, also those whose branch is in a fork", async () => {
    const names = [await store(command(1)), await store(command(2, "other")), await store(command(3, "topic", 99))];

    const text = await why("git:gitlab.example/7");

    for (const name of names) expect(text).toContain(shortened(name));
    expect(await why("git:gitlab.example/99")).toContain(shortened(names[2] ?? ""));
  });

  it("prints the same as JSON", async () => {
    const name = await store(command(1));

    expect(JSON.parse(await why(name, "-o", "json"))).toMatchObject({ tasks: [{ metadata: { name } }] });
  });

  it.each([
    ["git:gitlab.example/7@nowhere", "there are no tasks on git:gitlab.example/7@nowhere"],
    ["ct-nothing", "there is no incident, execution or task ct-nothing"],
  ])("reports that there is no %s", async (subject, problem) => {
    await expect(why(subject)).rejects.toThrow(problem);
  });
});

describe("interlock cancel", () => {
  it("asks the agent that works on it to stop, in the name that the API server knows", async () => {
    const name = await store(command(1), { phase: "Running", startTime: time });
    const verified = new TestCli(knownAs(cli.client, "kim@example.com"));

    await verified.run("cancel", shortened(name), "--reason", "not needed");

    expect(verified.read()).toContain(`is being cancelled; see: interlock why ${shortened(name)}`);
    expect(await request(name)).toBe("kim@example.com: not needed");
  });

  it("states that the name is unverified if no server has verified it", async () => {
    const name = await store(command(1));

    await cli.run("cancel", name, "--reason", "not needed");

    expect(await request(name)).toBe("kim (unverified): not needed");
  });

  it("stops nothing that has ended", async () => {
    const name = await store(command(1), { phase: "Completed", startTime: time, completionTime: time });

    expect(await cli.run("cancel", name, "--reason", "x")).toBe(0);
    expect(cli.read()).toBe(`${shortened(name)} has ended already, Completed: there is nothing to cancel`);
    expect(await request(name)).toBeUndefined();
  });

  it.each([
    [
      ["ct-nothing", "--reason", "x"],
      "there is no execution, incident or task ct-nothing; see: interlock get executions",
    ],
    [[branch, "--reason", "x"], `there is no execution, incident or task ${branch}`],
    [["ct-nothing"], "required option '--reason <TEXT>' not specified"],
    [["ct-nothing", "--reason", " "], "option '--reason <TEXT>' argument ' ' is invalid. It is empty"],
    [["--reason", "x"], "missing required argument 'execution-incident-or-task'"],
  ])("called with %j fails and prints what to write", async (args, problem) => {
    await store(command(1));

    await expect(cli.run("cancel", ...args)).rejects.toThrow(problem);
  });
});

async function why(...args: readonly string[]): Promise<string> {
  await cli.run("why", ...args);
  return cli.read();
}

async function request(name: string): Promise<string | undefined> {
  const task = await cli.client.get(codingTasks, { name, namespace: "kubernaut-system" });
  const asked = task && readCancelRequest(task);
  return asked && `${asked.by}: ${asked.reason}`;
}

/** A server that knows who asks. */
function knownAs(client: KubeClient, username: string): KubeClient {
  return {
    ...client,
    create: async (type, object, call) =>
      type.kind === "SelfSubjectReview"
        ? { kind: "created", object: { ...object, status: { userInfo: { username } } } }
        : client.create(type, object, call),
  };
}

function shortened(name: string): string {
  return name.replace(/^(ct-.{8}).*$/, "$1");
}

function command(id: number, sourceBranch = "topic", fork?: number): TaskDraft {
  return {
    type: "Command",
    project: { host: "gitlab.example", id: 7, path: "group/app" },
    source: "webhook",
    receivedTime: time,
    requestedBy: "ann",
    claimKey: `note:gitlab.example:7:3:${id}`,
    mergeRequest: {
      ...{ iid: 3, headSha: "a".repeat(40), sourceBranch, targetBranch: "main" },
      ...(fork === undefined ? {} : { sourceProjectId: fork }),
    },
    note: { id, authorId: 1, body: "/copilot rename it", verb: "do", instruction: "rename it" },
  };
}

async function store(draft: TaskDraft, status?: CodingTaskStatus): Promise<string> {
  const reading = draftTask(draft, "kubernaut-system");
  if (reading.kind !== "task") throw new Error(reading.problem);
  const made = await cli.client.create<CodingTask>(codingTasks, reading.task);
  if (made.kind !== "created") throw new Error("it is there already");
  if (status) await cli.client.update(codingTasks, { ...made.object, status }, { subresource: "status" });
  return made.object.metadata.name ?? "";
}
