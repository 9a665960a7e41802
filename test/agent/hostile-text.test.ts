import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { CoderStep } from "../doubles/scripted-coder.ts";
import { AgentWorld, lines } from "./agent-world.ts";

const run = promisify(execFile);

let world: AgentWorld;

afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** A text that makes GitLab act in our name, notify users, or load an image in the browser of a reader. */
const hostile = [
  "/merge",
  "/approve",
  "  /assign @kim",
  "@all and &#64;all, see ![x](https://evil.example/?code=1) and",
  '<img src="https://evil.example/a">',
].join("\n");

describe("text of the coder on GitLab", () => {
  it("triggers nothing in the reply to a command, wherever it stands", async () => {
    world = await AgentWorld.open({ script: () => [{ do: "answer", value: { summary: hostile } }] });

    await command("/copilot look");

    await world.allEnded();
    expect(bodies()).toEqual([expect.stringContaining("approve")]);
    expect(triggersIn(bodies())).toEqual([]);
  });

  it("triggers nothing in the reply that reports its failure", async () => {
    const script = (): CoderStep[] => [
      { do: "complain", text: `x\n${hostile}` },
      { do: "exit", code: 3 },
    ];
    world = await AgentWorld.open({ env: { AGENT_MAX_ATTEMPTS: "1" }, script });

    await command("/copilot look");

    await world.allEnded();
    expect(bodies()).toEqual([expect.stringContaining("approve")]);
    expect(triggersIn(bodies())).toEqual([]);
  });

  it("triggers nothing in a review: in its summary, findings and their paths", async () => {
    const findings = [
      { path: "app.ts", line: 2, severity: "error", message: hostile },
      { path: "x`@all ![y](https://evil.example)` <img src=//evil.example>", line: 1, message: hostile },
    ];
    world = await AgentWorld.open({ script: () => [{ do: "answer", value: { summary: hostile, findings } }] });

    await world.openMergeRequest();

    await world.allEnded();
    expect(bodies()).toHaveLength(3);
    expect(triggersIn(bodies())).toEqual([]);
  });

  it("triggers nothing by a suggestion, whose fence older servers do not recognise after a backtick", async () => {
    const findings = [{ path: "app.ts", line: 2, message: "`one", suggestion: "two`\n/merge\nthree" }];
    world = await AgentWorld.open({ script: () => [{ do: "answer", value: { summary: "ok", findings } }] });

    await world.openMergeRequest();

    await world.allEnded();
    expect(bodies().filter((body) => body.includes("`one"))).toHaveLength(1);
    expect(triggersIn(bodies())).toEqual([]);
  });

  it("triggers nothing in the merge request of an issue, nor does the text of the issue", async () => {
    const script = (): CoderStep[] => [
      { do: "write", path: "fixed.txt", text: "done\n" },
      { do: "answer", value: { summary: hostile } },
    ];
    world = await AgentWorld.open({ gateways: 0, jira: true, script });
    world.jira.addIssue(world.issues, { summary: "Fix @all <img src=//evil.example>\n/merge" });

    await world.allEnded();

    const [mr] = world.project.mergeRequests;
    expect(mr?.description).toContain("approve");
    expect(triggersIn([mr?.title ?? "", mr?.description ?? ""])).toEqual([]);
  });
});

describe("names from a merge request", () => {
  it("trigger nothing in a reply: a branch", async () => {
    world = await AgentWorld.open({ script: () => [{ do: "write", path: "added.txt", text: "done\n" }] });
    const branch = "x`@all`<img/src=https&#58;evil.example>";

    await world.gitlab.commentOn(await world.openMergeRequest({ branch, title: "Draft: x" }), world.kim, "/copilot x");

    await world.allEnded();
    expect(bodies()).toEqual([expect.stringContaining("Changes pushed to")]);
    expect(triggersIn(bodies())).toEqual([]);
  });

  it("trigger nothing in a reply: the path of a file that git cannot write", async () => {
    world = await AgentWorld.open({ env: { AGENT_MAX_ATTEMPTS: "1", AGENT_PATIENCE: "1s" } });
    const mr = await world.openMergeRequest({ title: "Draft: x" });
    await pushPath(`${"long".repeat(70)}\n/merge\n@all`);

    await world.gitlab.commentOn(mr, world.kim, "/copilot look");

    await world.allEnded();
    expect(bodies()).toEqual([expect.stringContaining("git checkout-index failed")]);
    expect(triggersIn(bodies())).toEqual([]);
  });
});

describe("the message of a commit", () => {
  it("has no control characters from the comment", async () => {
    world = await AgentWorld.open({ script: () => [{ do: "write", path: "added.txt", text: "done\n" }] });

    await command("/copilot add \u001b]0;evil\u0007 \u202ethe file");

    await world.allEnded();
    expect(await world.git("log", "-1", "--format=%s", "topic")).toBe("fix: add ]0;evil the file\n");
  });
});

async function command(text: string): Promise<void> {
  const mr = await world.openMergeRequest({ title: "Draft: x" });
  await world.gitlab.commentOn(mr, world.kim, text);
}

function bodies(): readonly string[] {
  return world.notes().map(({ body }) => body);
}

/**
 * Returns everything that GitLab would act on. Quick actions count wherever they stand: older servers find code blocks
 * by patterns, which a text can deceive.
 */
function triggersIn(texts: readonly string[]): readonly string[] {
  const quickAction = /^\s*\/[a-z_].*/gim;
  const mention = /(?<!\w)(@|&#64;|&#x40;|&commat;)\w+/gi;
  const image = /!\[|<(img|video|audio|a|div|p|details)\b/gi;
  return texts.flatMap((text) => [quickAction, mention, image].flatMap((pattern) => text.match(pattern) ?? []));
}

/** Adds a file to the branch `topic` whose name no work tree can have. */
async function pushPath(path: string): Promise<void> {
  const { directory } = world.project.repository;
  const git = async (args: readonly string[], env: Record<string, string> = {}) => {
    const identity = {
      GIT_AUTHOR_NAME: "x",
      GIT_AUTHOR_EMAIL: "x@x",
      GIT_COMMITTER_NAME: "x",
      GIT_COMMITTER_EMAIL: "x@x",
    };
    const options = { cwd: directory, env: { ...process.env, ...identity, ...env } };
    return (await run("git", ["--git-dir", directory, ...args], options)).stdout.trim();
  };
  const index = { GIT_INDEX_FILE: join(world.directory, "index") };
  await git(["read-tree", "topic"], index);
  const blob = await git(["rev-parse", "topic:app.ts"]);
  await git(["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`], index);
  const commit = await git(["commit-tree", await git(["write-tree"], index), "-p", "topic", "-m", lines("x")]);
  await git(["update-ref", "refs/heads/topic", commit]);
}
