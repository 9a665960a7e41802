import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { automationPauses, installCrds, remediationWorkflows } from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";

let cli: TestCli;
let clock: ManualClock;
beforeEach(async () => {
  clock = new ManualClock();
  const client = testCluster({ clock, random: systemRandom(), namespaces: ["default", "kubernaut-system"] }).client();
  await installCrds(client);
  const { apiVersion, kind } = remediationWorkflows;
  await client.create(remediationWorkflows, {
    apiVersion,
    kind,
    metadata: { name: "cleanup-1", namespace: "kubernaut-system" },
    spec: { workflowId: "cleanup", version: "1", description: "Cleans up.", containerImage: "x", pipeline: "workflow" },
  });
  cli = new TestCli(client);
});

describe("interlock pause", () => {
  it.each([
    [["all"], ["node/worker-1", "payment/deployment/api"]],
    [["namespace", "payment"], ["payment/deployment/api"]],
    [["target", "payment/deploy/api"], ["payment/deployment/api"]],
    [["workflow", "cleanup"], ["node/worker-1"]],
  ])("%j pauses the targets that it covers and no others", async (scope, covered) => {
    await cli.run("pause", ...scope, "--reason", "release");

    cli.read();
    for (const target of covered) expect(await verdict(target)).toContain("not now, Paused");
    expect(await verdict("other/deployment/api")).toContain(
      scope[0] === "all" || scope[0] === "workflow" ? "not now, Paused" : "may run now",
    );
  });

  it("ends after --for, and prints the time", async () => {
    await cli.run("pause", "all", "--reason", "release", "--for", "2h");

    const until = /until (\S+)\n/.exec(cli.read())?.[1] ?? "";
    expect(Date.parse(until)).toBe(cli.client.serverNowMs() + 2 * 3_600_000);
    expect(await verdict("node/worker-1")).toContain(`clears at ${until}`);
    await clock.advance(2 * 3_600_000);
    expect(await verdict("node/worker-1")).toContain("may run now");
  });

  it.each([
    ["git:gitlab.example/42@topic", "git:gitlab.example/42@topic"],
    ["git:https://GitLab.example/42", "git:gitlab.example/42"],
  ])("accepts %s for coding tasks, and resume finds the pause", async (text, targetResource) => {
    await cli.run("pause", "target", text, "--reason", "release");

    expect((await cli.client.list(automationPauses)).items).toMatchObject([{ spec: { targetResource } }]);
    await cli.run("resume", "target", targetResource, "--reason", "it is out");
  });

  it("records the operator and the reason", async () => {
    await cli.run("pause", "all", "--reason", "release 4");

    const { items } = await cli.client.list(automationPauses);
    expect(items).toMatchObject([{ spec: { scope: "All", reason: "release 4", requestedBy: "kim (unverified)" } }]);
  });

  it.each([
    [["all"], "required option '--reason <TEXT>' not specified"],
    [["all", "--reason", " "], "option '--reason <TEXT>' argument ' ' is invalid. It is empty"],
    [["namespace", "--reason", "x"], "missing argument: all | namespace NS"],
    [["everything", "now", "--reason", "x"], '"everything now" is not one of: all | namespace NS'],
    [["everything", "--reason", "x"], '"everything" is not one of: all | namespace NS'],
    [["node/worker-1", "--reason", "x"], '"node/worker-1" is not a scope; write: target node/worker-1'],
    [["workflow", "clean", "--reason", "x"], "there is no workflow clean; the catalog has cleanup"],
    [["target", "widget/one", "--reason", "x"], 'the target "widget/one"'],
    [
      ["target", "git:gitlab.example/group/app", "--reason", "x"],
      "identified by the id of their project, not by its path",
    ],
    [["target", "git:gitlab.example/42@a..b", "--reason", "x"], "has no valid branch"],
    [["all", "--reason", "x", "--for", "soon"], '--for needs a duration such as 30m or 2h, at most 87600h, got "soon"'],
    [["all", "--reason", "x", "--for", "2500000000h"], "--for needs a duration"],
    [["all", "--reason", "x", "--for", "0s"], "--for needs a duration"],
  ])("with %j pauses nothing and prints what to write", async (args, problem) => {
    await expect(cli.run("pause", ...args)).rejects.toThrow(problem);

    expect((await cli.client.list(automationPauses)).items).toEqual([]);
  });
});

describe("interlock resume", () => {
  it("ends a pause with the command that interlock pause and interlock why print", async () => {
    await cli.run("pause", "all", "--reason", "release");
    const [, printed = ""] = /To end it: interlock resume (\S+) --reason/.exec(cli.read()) ?? [];
    const [, explained] = /next: wait, or end it: interlock resume (\S+) --reason/.exec(await verdict("node/a")) ?? [];
    expect(explained).toBe(printed);

    await cli.run("resume", printed, "--reason", "it is out");

    expect(await verdict("node/a")).toContain("may run now");
    const { items } = await cli.client.list(automationPauses);
    expect(items).toMatchObject([{ status: { endedBy: "kim (unverified)", endReason: "it is out" } }]);
  });

  it("ends every pause of a scope, and no other", async () => {
    for (const scope of [["all"], ["all"], ["namespace", "payment"]]) {
      await cli.run("pause", ...scope, "--reason", "x");
    }

    await cli.run("resume", "all", "--reason", "over");

    expect(await verdict("node/a")).toContain("may run now");
    expect(await verdict("payment/deployment/api")).toContain("not now, Paused");
    await cli.run("resume", "namespace", "payment", "--reason", "over");
    expect(await verdict("payment/deployment/api")).toContain("may run now");
  });

  it.each([
    [["all"], "required option '--reason <TEXT>' not specified"],
    [
      ["all", "--reason", "x"],
      /no active pause has exactly the scope "all automation"; active pauses: pause-\w+ \(automation on node\/a\)/,
    ],
    [["pause-2", "--reason", "x"], /no active pause pause-2; active pauses: pause-\w+/],
  ])("with %j fails and lists the active pauses", async (args, problem) => {
    await cli.run("pause", "target", "node/a", "--reason", "x");

    await expect(cli.run("resume", ...args)).rejects.toThrow(problem);
  });
});

async function verdict(target: string): Promise<string> {
  cli.read();
  await cli.run("why", target, "--workflow", "cleanup");
  return cli.read();
}
