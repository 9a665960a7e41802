import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { KubeClient } from "../../../src/kube/index.ts";
import { automationPauses, remediationApprovalRequests, workflowExecutions } from "../../../src/resources/index.ts";
import { dataShown, openPath, tabTo } from "./console-pages.ts";
import { Scenario } from "./scenario.ts";

let scenario: Scenario;
let client: KubeClient;
let page: Page;
beforeAll(async () => {
  scenario = await Scenario.start();
  client = await scenario.up.client();
  page = await scenario.console.signIn();
});
afterAll(() => scenario.stop());
afterEach(() => expect(scenario.console.problems).toEqual([]));

describe("by keyboard alone", () => {
  it("approves a workflow", async () => {
    const incident = await scenario.signalAt("HighLatency", "shop/deployment/a", "AwaitingApproval");
    await showOnly(incident);

    await tabTo(page, "Approve");
    await confirm("checked the dashboard");

    await scenario.reaches(incident, "Verifying");
    const { items } = await client.list(remediationApprovalRequests);
    const approval = items.find(({ spec }) => JSON.stringify(spec).includes("shop/deployment/a"));
    expect(approval?.status).toMatchObject({
      decision: "Approved",
      decidedBy: "interlock-admin",
      decisionMessage: "checked the dashboard",
    });
  });

  it("acknowledges a failure", async () => {
    const incident = await scenario.fail("shop/deployment/b");
    await showOnly(incident);

    await tabTo(page, "Acknowledge");
    await confirm("removed the half-made replica");

    // The block is gone: the workflow runs again, and fails again.
    await scenario.reaches(incident, "Failed");
  });

  it("pauses automation", async () => {
    await openPath(page, "/");

    await tabTo(page, "Pause…");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.getByLabel("Scope").focus();
    await page.keyboard.type("namespace keyboard");
    await page.keyboard.press("Tab");
    await page.keyboard.type("2h");
    await page.keyboard.press("Tab");
    await page.keyboard.type("release 5");
    await page.keyboard.press("Control+Enter");

    await page.getByText("Automation is paused: namespace keyboard").waitFor();
    expect(await pausesOf("keyboard")).toMatchObject([{ spec: { reason: "release 5" } }]);
  });

  it("cancels a running execution", async () => {
    const incident = await scenario.runDrain("node/keyboard");
    await openPath(page, `/target?target=${encodeURIComponent("node/keyboard")}`);
    await page.getByRole("region", { name: "Holder" }).getByRole("button", { name: "Cancel" }).waitFor();

    await tabTo(page, "Cancel");
    await confirm("wrong node");

    await scenario.reaches(incident, "Withdrawn");
  });

  /** Opens the page of an incident from the list. */
  async function showOnly(incident: string) {
    await openPath(page, `/incidents?search=${incident}`);
    await page.getByText("1 in total").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/incidents\/[^/]+\/rr-/);
    await dataShown(page);
    await page.getByRole("region", { name: "State" }).waitFor();
  }

  /** The dialog asks for the reason first. */
  async function confirm(reason: string) {
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await expect.poll(() => page.locator("textarea:focus").count()).toBe(1);
    await page.keyboard.type(reason);
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
});

describe("an action", () => {
  it("has one effect for two clicks", async () => {
    await openPauseDialog("double");

    const submit = page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true });
    await submit.dblclick();
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await page.getByText("Automation is paused: namespace double").waitFor();
    expect(await pausesOf("double")).toHaveLength(1);
  });

  it("has one effect if the response is lost and it is sent again", async () => {
    await openPauseDialog("lost");
    let requests = 0;
    await page.route("**/api/v1/operations/pause", async (route) => {
      requests++;
      if (requests > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });

    const submit = page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true });
    await submit.click();
    await page.getByText("The server does not respond.").waitFor();
    await submit.click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.unroute("**/api/v1/operations/pause");

    expect(requests).toBe(2);
    expect(await pausesOf("lost")).toHaveLength(1);
  });

  it("shows the changes when another user was faster", async () => {
    const incident = await scenario.signalAt("HighLatency", "shop/deployment/c", "AwaitingApproval");
    await openPath(page, `/approvals`);
    const row = page.getByRole("row").filter({ hasText: "shop/deployment/c" });
    await row.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("looks right");
    const { items } = await client.list(remediationApprovalRequests);
    const approval = items.find(({ spec }) => JSON.stringify(spec).includes("shop/deployment/c"));
    await scenario.up.interlock("reject", approval?.metadata.name ?? "", "--reason", "not during the release");

    await dialog.getByRole("button", { name: "Approve", exact: true }).click();

    const changes = dialog.getByRole("table", { name: "What has changed" });
    await changes.waitFor();
    expect(await changes.textContent()).toMatch(/decision–Rejected/);
    await scenario.reaches(incident, "Failed");
  });

  it("runs a workflow with the fields of its form, and runs it again", async () => {
    await openPath(page, "/catalog");
    await page.getByRole("row").filter({ hasText: "node-disk-cleanup" }).getByRole("button", { name: "Run…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Target").fill("node/formed");
    await dialog.getByLabel("Reason").fill("by hand");
    await expect.poll(() => dialog.locator("code").textContent()).toContain("--target node/formed");
    await dialog.getByRole("button", { name: "Run", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => phasesOn("node/formed")).toEqual(["Completed"]);

    await openPath(page, "/executions?target=node%2Fformed");
    await page.getByRole("link", { name: "node-disk-cleanup" }).click();
    await page.getByRole("button", { name: "Retry" }).click();
    await confirm("Retry", "once more");

    // The second one is within the cooldown of the first.
    await expect.poll(() => phasesOn("node/formed")).toEqual(["Completed", "Skipped"]);
  });

  it("rejects several approvals with one reason", async () => {
    const incidents = [];
    for (const name of ["e", "f"])
      incidents.push(await scenario.signalAt("HighLatency", `shop/deployment/${name}`, "AwaitingApproval"));
    await openPath(page, "/approvals?search=shop/deployment");
    for (const name of ["e", "f"]) await page.getByLabel(`Select scale-out on shop/deployment/${name}`).check();

    await page.getByRole("button", { name: "Reject… selected" }).click();
    await confirm("Reject", "wait for the capacity review");

    for (const incident of incidents) await scenario.reaches(incident, "Failed");
    const { items } = await client.list(remediationApprovalRequests);
    const messages = items.map(({ status }) => status && "decisionMessage" in status && status.decisionMessage);
    expect(messages.filter((message) => message === "wait for the capacity review")).toHaveLength(2);
  });

  it("approves on Now a requested run without an incident", async () => {
    await openPath(page, "/");
    await scenario.up.interlock(
      "run",
      "scale-out",
      "--target",
      "shop/deployment/h",
      "--param",
      "REPLICAS=3",
      "--no-wait",
      "--reason",
      "a campaign begins",
    );

    const panel = page.getByRole("region", { name: "Needs you, without an incident" });
    const line = panel.getByRole("listitem").filter({ hasText: "shop/deployment/h" });
    expect(await line.textContent()).toContain("interlock-admin wants to run it: a campaign begins");
    await line.getByRole("button", { name: "Approve" }).click();
    const facts = page.getByRole("dialog").locator("dl");
    await facts.waitFor();
    expect(await facts.textContent()).toMatch(/a campaign begins.*REPLICAS3/);
    await confirm("Approve", "the load is known");

    await line.waitFor({ state: "detached" });
    const { items } = await client.list(remediationApprovalRequests);
    const answered = items.find(({ spec }) => spec.targetResource === "shop/deployment/h");
    expect(answered?.status?.decision).toBe("Approved");
  });

  it("rejects one workflow", async () => {
    const incident = await scenario.signalAt("HighLatency", "shop/deployment/g", "AwaitingApproval");
    await openPath(page, "/approvals");

    const row = page.getByRole("row").filter({ hasText: "shop/deployment/g" });
    await row.getByRole("button", { name: "Reject" }).click();
    await confirm("Reject", "not now");

    await scenario.reaches(incident, "Failed");
  });

  it("ends a pause", async () => {
    await scenario.pause("namespace", "resumed");
    await openPath(page, "/pauses");

    const row = page.getByRole("row").filter({ hasText: "namespace resumed" });
    await row.getByRole("button", { name: "Resume" }).click();
    await confirm("Resume", "the release is done");

    await row.waitFor({ state: "detached" });
    expect((await pausesOf("resumed")).map(({ status }) => status?.endedBy)).toEqual(["interlock-admin"]);
  });

  it("is offered as a command line that does the same", async () => {
    await openPauseDialog("copied");

    const command = await page.getByRole("dialog").locator("code").textContent();

    expect(command).toBe("interlock pause namespace copied --reason 'release 6'");
    await page.keyboard.press("Escape");
  });

  async function confirm(label: string, reason: string) {
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: label, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  }

  async function phasesOn(target: string): Promise<readonly (string | undefined)[]> {
    const { items } = await client.list(workflowExecutions);
    return items
      .filter(({ spec }) => spec.targetResource === target)
      .map(({ status }) => status?.phase)
      .sort();
  }

  async function openPauseDialog(scope: string) {
    await openPath(page, "/");
    await page.getByRole("button", { name: "Pause…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Scope").fill(`namespace ${scope}`);
    await dialog.getByLabel("Reason").fill("release 6");
  }
});

describe("a viewer", () => {
  it("sees incidents and no button to act, and is refused by the server", async () => {
    await scenario.signalAt("ClockSkew", "node/viewed", "Blocked");
    const viewer = await scenario.console.signIn({ role: "viewer" });
    await openPath(viewer, "/");
    await viewer.getByRole("link", { name: "ClockSkew" }).first().waitFor();

    const labels = await viewer.locator("main").getByRole("button").allTextContents();
    const status = await viewer.evaluate<number>(`fetch("/api/v1/operations/pause", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ scope: ["all"], reason: "x", key: "viewer-tries-to-pause" }),
    }).then(({ status }) => status)`);

    expect(labels.filter((label) => /Pause|Cancel|Approve|Acknowledge|Resume|Retry/.test(label))).toEqual([]);
    expect(status).toBe(403);
    expect((await client.list(automationPauses)).items.filter(({ spec }) => spec.reason === "x")).toEqual([]);
  });
});

async function pausesOf(namespace: string) {
  const { items } = await client.list(automationPauses);
  return items.filter(({ spec }) => JSON.stringify(spec).includes(`"${namespace}"`));
}
