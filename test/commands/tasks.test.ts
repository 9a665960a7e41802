import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GitLabDouble, startGitLab } from "../doubles/gitlab/start-gitlab.ts";
import { scriptedCoder } from "../doubles/scripted-coder.ts";
import { UpProcess } from "../services/up-process.ts";

describe("interlock up with a coder", { timeout: 60_000 }, () => {
  let up: UpProcess;
  let gitlab: GitLabDouble;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "interlock-tasks-"));
    chmodSync(folder, 0o755);
    gitlab = await startGitLab();
    const { token, username } = gitlab.addUser("copilot");
    const settings = {
      gitlab: { url: gitlab.url, token, webhookSecret: "the-secret", username },
      agent: { command: JSON.stringify(await scriptedCoder(folder, [{ do: "hang" }])) },
    };
    up = await UpProcess.start({}, { settings });
  }, 60_000);
  afterAll(async () => {
    await up.stop();
    await gitlab.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("accepts webhooks at the printed address, and lists, explains and cancels their tasks", async () => {
    const [, url = ""] = /agent +http\S+ +webhooks at (\S+)/.exec(up.screen) ?? [];
    gitlab.webhooks.sendTo([url], "the-secret");
    const ann = gitlab.addUser("ann");
    const project = await gitlab.addProject({ path: "group/app", files: { "a.txt": "a\n" } });
    await gitlab.pushAs(ann, project, "topic", { "a.txt": "b\n" });
    await gitlab.openMergeRequest(project, { sourceBranch: "topic", title: "t", author: ann });
    await gitlab.webhooks.settled();

    const [, name = ""] = /^(ct-\S+) /m.exec((await up.interlock("get", "tasks")).out) ?? [];
    await expect.poll(async () => (await up.interlock("why", name)).out).toMatch(/phase +Running/);
    const [, branch = ""] = /branch +(git:\S+@topic)$/m.exec((await up.interlock("why", name)).out) ?? [];
    expect((await up.interlock("why", branch)).out).toContain(`${name}: review of group/app!1`);

    const { out } = await up.interlock("cancel", name, "--reason", "not needed");

    expect(out).toContain("is being cancelled");
    const ended = /phase +Cancelled: cancelled: .+: not needed/;
    await expect.poll(async () => (await up.interlock("why", name)).out).toMatch(ended);
  });
});
