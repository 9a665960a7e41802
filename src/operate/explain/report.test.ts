import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import type { LedgerEvent } from "../../ledger/index.ts";
import { type CodingTask, codingTasks, installCrds } from "../../resources/index.ts";
import { draftTask, type IgnoredReport, reportIgnoredEvent } from "../../tasks/index.ts";
import { systemRandom } from "../../time/index.ts";
import { parseReported } from "./report.ts";

const at = "2026-03-01T12:00:00.000Z";
const url = "https://gitlab.example.com/group/app/-/merge_requests/7";

let cli: TestCli;
let events: LedgerEvent[];
beforeEach(async () => {
  events = [];
  const clock = new ManualClock();
  const client = testCluster({ clock, random: systemRandom(), namespaces: ["kubernaut-system"] }).client();
  await installCrds(client);
  cli = new TestCli(client, { events: () => events });
});

describe("interlock why, of a merge request or a comment that was ignored,", () => {
  it.each([
    ["Draft", "it is a draft, and gitlab.reviewDrafts is false"],
    ["LabelMissing", "label missing: it has none of gitlab.requiredLabels (review me)"],
  ] as const)("explains the reason: %s", async (reason, because) => {
    record({ reason, because });

    const text = await why(url);

    expect(text).toContain(`gitlab.example.com/group/app!7: ignored, ${reason}`);
    expect(text).toContain(because);
    expect(text).toContain(`by ada, at ${at}, reported by webhook`);
  });

  it.each([url, `${url}/diffs`, "group/app!7", "gitlab.example.com/group/app!7"])("finds it by %s", async (name) => {
    record({});
    record({ subject: { ...subject, iid: 8 }, because: "something else" });

    const text = await why(name);

    expect(text).toContain("it is a draft");
    expect(text).not.toContain("something else");
  });

  it.each([`${url}#note_123`, "note:123"])("finds a comment by %s", async (name) => {
    const note = { ...subject, object: "note", noteId: 123 } as const;
    record({ subject: note, reason: "NotForUs", because: "it names no one" });
    record({ subject: { ...note, noteId: 124 }, reason: "NotForUs", because: "something else" });

    const text = await why(name);

    expect(text).toContain("comment 123 on gitlab.example.com/group/app!7: ignored, NotForUs");
    expect(text).not.toContain("something else");
  });

  it("prints that the author is not a member, from the task that was not served", async () => {
    await storeNotServed();

    const text = await why(url);

    expect(text).toContain("phase        Cancelled: not served: the author is not a member");
    expect(text).toContain("not served   NotAMember");
    expect(text).not.toContain("/copilot retry");
  });

  it.each(["APP-7", "https://jira.example.com/browse/APP-7"])("finds an issue by %s", async (name) => {
    record({ subject: { object: "issue", issue: "APP-7" }, reason: "Unreadable", because: "it cannot be a task" });

    expect(await why(name)).toContain("APP-7: ignored, Unreadable");
  });

  it("prints that there is no record of it", async () => {
    await expect(why(url)).rejects.toThrow("no webhook and no poll has reported it");
  });
});

describe("a name of something that is reported", () => {
  it.each([
    ["node/worker-1", undefined],
    ["rr-oiiu3npg-1", undefined],
    ["https://example.com/other", undefined],
    ["https://gitlab.example.com/a/b/c/merge_requests/3", { host: "gitlab.example.com", path: "a/b/c", iid: 3 }],
    ["http://gitlab:8080/a/b/-/merge_requests/3#note_5", { host: "gitlab:8080", path: "a/b", iid: 3, noteId: 5 }],
    ["a/b!3", { path: "a/b", iid: 3 }],
    ["https://gitlab.example.com/%E0%A4%A/-/merge_requests/3", { path: "%E0%A4%A", iid: 3 }],
  ])("%s: %o", (text, expected) => {
    const read = parseReported(text);

    if (expected === undefined) expect(read).toBeUndefined();
    else expect(read).toMatchObject(expected);
  });
});

const project = { host: "gitlab.example.com", id: 5, path: "group/app" };
const subject = { object: "merge_request", project, iid: 7, author: "ada" } as const;

function record(report: Partial<IgnoredReport>) {
  const usual = { subject, reason: "Draft", because: "it is a draft", source: "webhook" } as const;
  events.push(reportIgnoredEvent({ ...usual, ...report }, at));
}

async function why(name: string): Promise<string> {
  await cli.run("why", name);
  return cli.read();
}

async function storeNotServed() {
  const reading = draftTask(
    {
      ...{ type: "Review", project, source: "webhook", receivedTime: at, claimKey: "review:7" },
      mergeRequest: { iid: 7, headSha: "a".repeat(40), sourceBranch: "topic", targetBranch: "main" },
    },
    "kubernaut-system",
  );
  if (reading.kind !== "task") throw new Error(reading.problem);
  const made = await cli.client.create<CodingTask>(codingTasks, reading.task);
  if (made.kind !== "created") throw new Error("it is there already");
  const message = "not served: the author is not a member: ada needs the role Developer in the project";
  const status = { phase: "Cancelled", completionTime: at, reason: "NotAMember", message } as const;
  await cli.client.update(codingTasks, { ...made.object, status }, { subresource: "status" });
}
