import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { incidentName, installCrds, remediationApprovalRequests } from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";

const incident = incidentName("v1:abc", 1);
let cli: TestCli;
let clock: ManualClock;
beforeEach(async () => {
  clock = new ManualClock();
  const client = testCluster({ clock, random: systemRandom(), namespaces: ["default", "kubernaut-system"] }).client();
  await installCrds(client);
  cli = new TestCli(client);
  await ask("rar-1", incident);
});

describe("interlock approve and reject", () => {
  it.each([
    ["Approved", "approve", "rar-1"],
    ["Approved", "approve", incident],
    ["Rejected", "reject", incident.slice(0, 12).concat("-1")],
  ] as const)("%s: the answer is on the question with who and why (%#)", async (decision, command, subject) => {
    await cli.run(command, subject, "--reason", "looked at it");

    expect(cli.read()).toBe(`rar-1 is ${decision} by kim (unverified): cleanup on node/worker-1`);
    expect((await question("rar-1"))?.status).toEqual({
      decision,
      decidedBy: "kim (unverified)",
      decidedVia: "command line",
      decidedAt: new Date(cli.client.serverNowMs()).toISOString(),
      decisionMessage: "looked at it",
    });
  });

  it("refuse a second answer", async () => {
    await cli.run("approve", "rar-1", "--reason", "fine");

    await expect(cli.run("reject", "rar-1", "--reason", "no")).rejects.toThrow("rar-1 was answered already: Approved");
    await expect(cli.run("reject", incident, "--reason", "no")).rejects.toThrow("answered already: Approved");
  });

  it.each(["approve", "reject"])("%s --dry-run prints the answer without writing it", async (command) => {
    expect(await cli.run(command, "rar-1", "--reason", "fine", "--dry-run")).toBe(0);

    expect(cli.read()).toMatch(
      /^rar-1 would be \w+ by kim \(unverified\): cleanup on node\/worker-1\nthis was a dry run/,
    );
    expect((await question("rar-1"))?.status).toBeUndefined();
  });

  it("refuse an answer after the deadline", async () => {
    await clock.advance(3_600_000);

    await expect(cli.run("approve", "rar-1", "--reason", "fine")).rejects.toThrow(/expired at \S+ without an answer/);
  });

  it("answer the open approval of an incident that has an answered one, too", async () => {
    await cli.run("reject", "rar-1", "--reason", "not now");
    await ask("rar-2", incident);

    await cli.run("approve", incident, "--reason", "now");

    expect((await question("rar-2"))?.status?.decision).toBe("Approved");
  });

  it.each([
    [["--reason", "x"], "missing required argument 'approval-or-incident'; see interlock help approve"],
    [["rar-1"], "required option '--reason <TEXT>' not specified"],
    [["rar-9", "--reason", "x"], "there is no approval rar-9, and no incident of that name waits for one"],
  ])("with %j fail with the problem and a hint", async (args, problem) => {
    await expect(cli.run("approve", ...args)).rejects.toThrow(problem);
  });
});

function question(name: string) {
  return cli.client.get(remediationApprovalRequests, { namespace: "kubernaut-system", name });
}

async function ask(name: string, incidentName: string) {
  const { apiVersion, kind } = remediationApprovalRequests;
  await cli.client.create(remediationApprovalRequests, {
    apiVersion,
    kind,
    metadata: { name, namespace: "kubernaut-system" },
    spec: {
      remediationRequestRef: { name: incidentName, namespace: "kubernaut-system" },
      targetResource: "node/worker-1",
      recommendedWorkflow: { workflowId: "cleanup" },
      whyApprovalRequired: "the workflow asks for it",
      requiredBy: new Date(cli.client.serverNowMs() + 3_600_000).toISOString(),
    },
  });
}
