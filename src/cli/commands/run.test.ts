import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import {
  annotationKeys,
  installCrds,
  remediationApprovalRequests,
  remediationWorkflows,
  workflowExecutions,
} from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";
// Imported before a test types them, so that they begin at once.
import "./run.ts";
import "./run.ts";

const namespace = "kubernaut-system";
let clock: ManualClock;
let cli: TestCli;
beforeEach(async () => {
  clock = new ManualClock();
  const client = testCluster({ clock, random: systemRandom(), namespaces: [namespace] }).client();
  await installCrds(client);
  const { apiVersion, kind } = remediationWorkflows;
  for (const required of [true, false]) {
    const workflowId = required ? "reboot" : "cleanup";
    await client.create(remediationWorkflows, {
      apiVersion,
      kind,
      metadata: { name: `${workflowId}-1`, namespace },
      spec: {
        workflowId,
        version: "1",
        description: "Does it.",
        containerImage: `registry.invalid/${workflowId}:1`,
        pipeline: "workflow",
        parameters: { properties: { keep: { type: "integer" } } },
        approval: { required, expiresAfter: "15m" },
      },
    });
  }
  cli = new TestCli(client, { clock });
});

describe("interlock run of a workflow that requires an approval", () => {
  it("requests one, waits for the answer, and creates an execution that refers to it", async () => {
    const running = cli.run("run", "reboot", "--target", "node/worker-1", "--param", "keep=3");
    await settle();

    const [question] = await questions();
    const name = question?.metadata.name ?? "";
    expect(question).toMatchObject({
      metadata: { namespace },
      spec: {
        targetResource: "node/worker-1",
        recommendedWorkflow: { workflowId: "reboot", version: "1", parameters: { keep: 3 } },
        requiredBy: new Date(cli.client.serverNowMs() + 15 * 60_000).toISOString(),
      },
    });
    expect(cli.read()).toContain(`answer with: interlock approve ${name}`);
    expect(await executions()).toEqual([]);

    await cli.run("approve", name, "--reason", "it is idle");
    await settle();

    const [execution] = await executions();
    expect(execution?.metadata.annotations).toMatchObject({ [annotationKeys.approval]: name });
    expect(execution?.spec.parameters).toEqual({ keep: 3 });
    await skip(execution?.metadata.name ?? "");
    expect(await running).toBe(3);
  });

  it("starts nothing after a rejection, and prints the operator and the reason", async () => {
    const running = cli.run("run", "reboot", "--target", "node/worker-1");
    const refused = expect(running).rejects.toThrow("is Rejected by kim (unverified): not today; nothing was started");
    await settle();

    await cli.run("reject", (await questions())[0]?.metadata.name ?? "", "--reason", "not today");

    await refused;
    expect(await executions()).toEqual([]);
  });

  it("starts nothing after the deadline of the approval", async () => {
    const running = cli.run("run", "reboot", "--target", "node/worker-1");
    const refused = expect(running).rejects.toThrow(/was not answered by .*; nothing was started/);
    await settle();

    await clock.advance(15 * 60_000);

    await refused;
    expect(await executions()).toEqual([]);
  });

  it("only requests it with --no-wait", async () => {
    expect(await cli.run("run", "reboot", "--target", "node/worker-1", "--no-wait")).toBe(0);

    expect(await questions()).toHaveLength(1);
    expect(await executions()).toEqual([]);
  });

  it("with --approval requests none, and creates an execution that refers to that one", async () => {
    const args = ["reboot", "--target", "node/worker-1", "--approval", "reboot-a", "--no-wait"];
    expect(await cli.run("run", ...args)).toBe(0);

    expect(await questions()).toEqual([]);
    expect((await executions())[0]?.metadata.annotations).toMatchObject({ [annotationKeys.approval]: "reboot-a" });
  });
});

describe("interlock run of a workflow that requires none", () => {
  it("requests no approval", async () => {
    expect(await cli.run("run", "cleanup", "--target", "node/worker-1", "--no-wait")).toBe(0);

    expect(await questions()).toEqual([]);
    expect((await executions())[0]?.metadata.annotations).not.toHaveProperty([annotationKeys.approval]);
  });
});

async function questions() {
  return (await cli.client.list(remediationApprovalRequests)).items;
}

async function executions() {
  return (await cli.client.list(workflowExecutions)).items;
}

async function skip(name: string) {
  const skipDetails = { reason: "Paused", message: "release 4", skippedAt: "2026-11-15T12:00:00Z" };
  for (const status of [{ phase: "Pending" }, { phase: "Skipped", skipDetails }]) {
    await cli.client.patch(workflowExecutions, { name, namespace }, { merge: { status } }, { subresource: "status" });
  }
}

describe("interlock run --dry-run", () => {
  it("prints what would be created and what the policy decides, and creates nothing", async () => {
    expect(await cli.run("run", "cleanup", "--target", "node/worker-1", "--dry-run")).toBe(0);

    expect(cli.read()).toMatch(
      /^execution cleanup-\w+ would be created\nthe policy decides now: may run now\nthis was a dry run: nothing was changed$/,
    );
    expect(await executions()).toEqual([]);
  });

  it("does not wait for an approval that it would request", async () => {
    expect(await cli.run("run", "reboot", "--target", "node/worker-1", "--dry-run")).toBe(0);

    expect(cli.read()).toMatch(/^approval reboot-\w+ would be requested until \S+\n/);
    expect(await questions()).toEqual([]);
  });
});

describe("interlock retry", () => {
  const args = ["cleanup", "--target", "node/worker-1", "--param", "keep=3", "--no-wait"];

  it("runs the workflow of an ended execution again, and has its exit status", async () => {
    await cli.run("run", ...args);
    const [first] = await executions();
    const { name = "" } = first?.metadata ?? {};
    await end(name);

    const retrying = cli.run("retry", `execution/${name}`, "--reason", "the registry is back");
    await settle();
    const second = (await executions()).find(({ metadata }) => metadata.name !== name);
    await skip(second?.metadata.name ?? "");

    expect(await retrying).toBe(3);
    expect(second?.spec).toEqual(first?.spec);
    expect(second?.metadata.annotations).toMatchObject({
      [annotationKeys.retryOf]: name,
      [annotationKeys.requestReason]: "the registry is back",
    });
  });

  it("refuses an execution that has not ended", async () => {
    await cli.run("run", ...args);
    const { name = "" } = (await executions())[0]?.metadata ?? {};

    await expect(cli.run("retry", name, "--reason", "x")).rejects.toThrow(
      `execution ${name} is new: it can be retried when it has ended`,
    );
  });

  it("fails with a hint if the name does not exist", async () => {
    await expect(cli.run("retry", "nothing", "--reason", "x")).rejects.toThrow(
      "there is no execution and no incident nothing; see: interlock get executions (or incidents)",
    );
  });
});

describe("Ctrl-C on interlock run", () => {
  const args = ["cleanup", "--target", "node/worker-1"];

  it("asks, and cancels the execution in the caller's name", async () => {
    const asked = new TestCli(cli.client, { clock, ask: async () => "c" });
    const running = asked.run("run", ...args);
    await settle();

    asked.interrupt();
    await settle();

    const [execution] = await executions();
    expect(execution?.metadata.annotations).toMatchObject({
      [annotationKeys.cancelRequested]: "Ctrl-C on interlock run",
      [annotationKeys.cancelRequestedBy]: expect.stringContaining("kim"),
    });
    await end(execution?.metadata.name ?? "");
    expect(await running).toBe(1);
  });

  it.each([["d"], [""]])("asks, and detaches when the answer is %o", async (answer) => {
    const asked = new TestCli(cli.client, { clock, ask: async () => answer });
    const running = asked.run("run", ...args);
    await settle();

    asked.interrupt();

    expect(await running).toBe(130);
    expect(asked.read()).toMatch(/detached: .* continues; to stop it: interlock cancel cleanup-\w+ --reason/);
    expect((await executions())[0]?.metadata.annotations).not.toHaveProperty([annotationKeys.cancelRequested]);
  });

  it("detaches without a terminal, and prints how to cancel", async () => {
    const running = cli.run("run", ...args);
    await settle();

    cli.interrupt();

    expect(await running).toBe(130);
    expect(cli.read()).toContain("to stop it: interlock cancel cleanup-");
    expect((await executions())[0]?.metadata.annotations).not.toHaveProperty([annotationKeys.cancelRequested]);
  });

  it("detaches at once at a second Ctrl-C while the question is open, and prints how to cancel", async () => {
    const asked = new TestCli(cli.client, { clock, ask: neverAnswered });
    const running = asked.run("run", ...args);
    await settle();
    asked.interrupt();
    await settle();

    asked.interrupt();

    expect(await running).toBe(130);
    expect(asked.read()).toMatch(/detached: .* continues; to stop it: interlock cancel cleanup-\w+ --reason/);
    expect((await executions())[0]?.metadata.annotations).not.toHaveProperty([annotationKeys.cancelRequested]);
  });

  it("returns the result of an execution that ends while the question is open", async () => {
    const asked = new TestCli(cli.client, { clock, ask: neverAnswered });
    const running = asked.run("run", ...args);
    await settle();
    asked.interrupt();
    await settle();

    await skip((await executions())[0]?.metadata.name ?? "");

    expect(await running).toBe(3);
  });

  it("after the answer to cancel stops waiting for the end at a second Ctrl-C", async () => {
    const asked = new TestCli(cli.client, { clock, ask: async () => "c" });
    const running = asked.run("run", ...args);
    await settle();
    asked.interrupt();
    await settle();

    asked.interrupt();

    expect(await running).toBe(130);
    expect(asked.read()).toMatch(/detached: cleanup-\w+ is still being cancelled/);
  });
});

/** A person who does not answer. */
function neverAnswered(_question: string, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

async function end(name: string): Promise<void> {
  const at = new Date(cli.client.serverNowMs()).toISOString();
  const failureDetails = {
    reason: "Cancelled" as const,
    message: "Cancelled by kim: x",
    failedAt: at,
    naturalLanguageSummary: "Cancelled by kim: x.",
    wasExecutionFailure: false,
    requiresManualReview: false,
  };
  for (const status of [
    { phase: "Pending" },
    { phase: "Failed", outcome: "Failed", completionTime: at, failureDetails },
  ]) {
    await cli.client.patch(workflowExecutions, { namespace, name }, { merge: { status } }, { subresource: "status" });
  }
  await settle();
}
