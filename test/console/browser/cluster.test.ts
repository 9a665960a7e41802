import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject, ResourceType } from "../../../src/kube/index.ts";
import {
  annotationKeys,
  automationPauses,
  remediationApprovalRequests,
  remediationRequests,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../../../src/resources/index.ts";
import { startChromium } from "../../services/chromium.ts";
import { OidcServer } from "../../services/oidc-server.ts";
import { type Cluster, ConsoleProcess, namespace, ownCluster, realCluster, suffix } from "./console-cluster.ts";
import { dataShown, openPath } from "./console-pages.ts";

// In a real cluster, whose kubeconfig has all rights and where no stage is at work:
// TEST_KUBECONFIG=FILE npm test -- console/browser/cluster
const { TEST_KUBECONFIG: given } = process.env;
const workflowId = `cleanup-${suffix}`;

describe(`the console of a cluster, on ${given ? "the cluster of TEST_KUBECONFIG" : "interlock's API server"}`, () => {
  let cluster: Cluster;
  let provider: OidcServer;
  let console: ConsoleProcess;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    [cluster, browser] = await Promise.all([given ? realCluster(given) : ownCluster(), startChromium()]);
    const [id, secret] = ["interlock", "secret-of-the-client"];
    provider = await OidcServer.start(() => ({ id, secret, redirectUrl: `${console.url}/login/oidc/callback` }));
    provider.user = { email: cluster.oidcUser };
    console = await ConsoleProcess.start(cluster.kubeconfig, (url) => ({
      INTERLOCK_CONSOLE_URL: url,
      INTERLOCK_CONSOLE_OIDC_ISSUER: provider.url,
      INTERLOCK_CONSOLE_OIDC_CLIENT_ID: id,
      INTERLOCK_CONSOLE_OIDC_CLIENT_SECRET: secret,
      INTERLOCK_CONSOLE_OIDC_USERNAME_CLAIM: "email",
    }));
    await create(remediationWorkflows, workflowId, {
      workflowId,
      version: "1.0.0",
      description: "Removes unused images.",
      engine: "job",
      containerImage: "registry.invalid/cleanup:1.0.0",
    });
    await createApproval("shown");
    await createExecution("shown", failed);
    page = await signIn(cluster.operator.token);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await console.stop();
    await provider.close();
    await cluster.close();
  }, 120_000);

  it("shows an incident as soon as it is there, to a user who logged in with a token of Kubernetes", async () => {
    await openPath(page, "/");

    await createIncident("LiveInCluster");

    await page.getByRole("link", { name: "LiveInCluster" }).waitFor();
    expect(await page.locator(".user > summary").textContent()).toContain(cluster.operator.name);
  });

  it.each<[string, string, string?]>([
    ["/incidents", "Incidents", "LiveInCluster"],
    ["/executions", "Executions", workflowId],
    ["/targets", "Targets"],
    ["/approvals", "Approvals", workflowId],
    ["/pauses", "Pauses"],
    ["/storm", "Storm"],
    ["/locks", "Locks"],
    ["/tasks", "Coding tasks"],
    ["/catalog", "Workflows and rules", workflowId],
    ["/ledger", "Ledger"],
  ])("has the page %s, which is %s", async (path, title, text) => {
    await openPath(page, path);

    expect(await page.locator("main h1").textContent()).toBe(title);
    if (text) await page.locator("main").getByText(text).filter({ visible: true }).first().waitFor();
  });

  it.each([
    ["Approve", "Approved"],
    ["Reject", "Rejected"],
  ])("records %s in the name of the user", async (label, decision) => {
    const approval = await createApproval(label.toLowerCase());
    await openPath(page, "/approvals");

    await rowOf(`node/${approval}`).getByRole("button", { name: label }).click();
    await confirm(label, "checked the dashboard");

    expect((await read(remediationApprovalRequests, approval)).status).toMatchObject({
      ...{ decision, decidedBy: cluster.operator.name, decisionMessage: "checked the dashboard" },
    });
  });

  it("shows the changes when another user was faster, and does nothing", async () => {
    const approval = await createApproval("raced");
    await openPath(page, "/approvals");
    await rowOf(`node/${approval}`).getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("looks right");
    const answer = { decision: "Rejected", decidedBy: "lee", decidedVia: "console", decidedAt: now() };
    await setStatus(remediationApprovalRequests, approval, { ...answer, decisionMessage: "not during the release" });

    await dialog.getByRole("button", { name: "Approve", exact: true }).click();

    const changes = dialog.getByRole("table", { name: "What has changed" });
    await changes.waitFor();
    expect(await changes.textContent()).toMatch(/decision–Rejected/);
    expect((await read(remediationApprovalRequests, approval)).status).toMatchObject({ decidedBy: "lee" });
    await page.keyboard.press("Escape");
  });

  it("acknowledges a failure, and runs the workflow again", async () => {
    const execution = await createExecution("failed", failed);
    await openPath(page, `/executions/${namespace}/${execution}`);

    await page.getByRole("button", { name: "Acknowledge" }).first().click();
    await confirm("Acknowledge", "removed the half-made replica");
    await page.getByRole("button", { name: "Retry" }).first().click();
    await confirm("Retry", "once more");

    const { annotations } = (await read(workflowExecutions, execution)).metadata;
    expect(annotations?.[annotationKeys.acknowledgedBy]).toBe(cluster.operator.name);
    expect(await executionsOn(`node/${execution}`)).toHaveLength(2);
  });

  it("cancels an execution", async () => {
    const execution = await createExecution("pending", { phase: "Pending" });
    await openPath(page, `/executions/${namespace}/${execution}`);

    await page.getByRole("button", { name: "Cancel" }).first().click();
    await confirm("Cancel it", "wrong node");

    const { annotations } = (await read(workflowExecutions, execution)).metadata;
    expect(JSON.stringify(annotations)).toContain("wrong node");
    expect(JSON.stringify(annotations)).toContain(cluster.operator.name);
  });

  it("runs a workflow of the catalog", async () => {
    await openPath(page, "/catalog");
    await rowOf(workflowId).getByRole("button", { name: "Run…" }).click();
    await page.getByRole("dialog").getByLabel("Target").fill(`node/by-hand-${suffix}`);
    await confirm("Run", "by hand");

    const [execution] = await executionsOn(`node/by-hand-${suffix}`);
    expect(execution?.spec.workflowRef.workflowId).toBe(workflowId);
  });

  it("acts in the name of the user, once for two clicks", async () => {
    await openPath(page, "/pauses");
    await page.getByRole("button", { name: "Pause…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Scope").fill(`namespace paused-${suffix}`);
    await dialog.getByLabel("Reason").fill("release 7");

    await dialog.getByRole("button", { name: "Pause", exact: true }).dblclick();
    await dialog.waitFor({ state: "detached" });

    await page.getByText(`namespace paused-${suffix}`, { exact: true }).waitFor();
    const pauses = await ownPauses();
    expect(pauses.map(({ spec }) => [spec.reason, spec.requestedBy])).toEqual([["release 7", cluster.operator.name]]);
  });

  it("ends a pause in the name of a user who logged in at an identity provider", async () => {
    const person = await newPage();
    await person.getByRole("link", { name: "Log in with your identity provider" }).click();
    await person.getByRole("heading", { name: "Now" }).waitFor();
    await openPath(person, "/pauses");

    const row = person.getByRole("row").filter({ hasText: `namespace paused-${suffix}` });
    await row.getByRole("button", { name: "Resume" }).click();
    await confirm("Resume", "the release is done", person);

    await row.waitFor({ state: "detached" });
    expect((await ownPauses()).map(({ status }) => status?.endedBy)).toEqual([cluster.oidcUser]);
  });

  it("shows no button for operations that the roles of Kubernetes forbid, and the API server refuses them", async () => {
    const reader = await signIn(cluster.reader.token);
    await openPath(reader, "/");
    await reader.getByRole("link", { name: "LiveInCluster" }).waitFor();

    const buttons = await reader.locator("main").getByRole("button").allTextContents();
    const status = await reader.evaluate<number>(`fetch("/api/v1/operations/pause", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ scope: ["all"], reason: "x", key: "reader-tries-to-pause" }),
    }).then(({ status }) => status)`);

    expect(buttons.filter((label) => /Pause|Cancel|Approve|Acknowledge|Resume|Retry/.test(label))).toEqual([]);
    expect(status).toBe(403);
  });

  it("is current again after kill -9 and a restart, with the same session", async () => {
    await openPath(page, "/");

    await console.crash();
    await page.getByText(/This page is \d+s old/).waitFor();
    await console.launch();

    await page.getByText(/This page is \d+s old/).waitFor({ state: "detached" });
    await createIncident("AfterRestart");
    await page.getByRole("link", { name: "AfterRestart" }).waitFor();
  });

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    context.setDefaultTimeout(30_000);
    const opened = await context.newPage();
    await opened.goto(console.url);
    return opened;
  }

  async function signIn(token: string): Promise<Page> {
    const opened = await newPage();
    await opened.getByText("Log in with a token").click();
    await opened.getByLabel("Token of the API server").fill(token);
    await opened.getByRole("button", { name: "Log in" }).click();
    await opened.getByRole("heading", { name: "Now" }).waitFor();
    await dataShown(opened);
    return opened;
  }

  function rowOf(text: string) {
    return page.getByRole("row").filter({ hasText: text });
  }

  async function confirm(label: string, reason: string, on = page): Promise<void> {
    const dialog = on.getByRole("dialog");
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: label, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  }

  async function createIncident(signalName: string): Promise<void> {
    const name = `rr-${signalName.toLowerCase()}-${suffix}`;
    await create(remediationRequests, name, {
      signalFingerprint: name.padEnd(64, "0").replace(/[^0-9a-f]/g, "0"),
      signalName,
      signalSource: "generic",
      severity: "warning",
      targetResource: { kind: "Node", name: "worker-1" },
      firingTime: now(),
      receivedTime: now(),
    });
  }

  async function createApproval(purpose: string): Promise<string> {
    const name = `rar-${purpose}-${suffix}`;
    await create(remediationApprovalRequests, name, {
      targetResource: `node/${name}`,
      recommendedWorkflow: { workflowId },
      whyApprovalRequired: "the workflow requires it",
      requiredBy: new Date(Date.now() + 3_600_000).toISOString(),
    });
    return name;
  }

  /** An execution as executors leave it. */
  async function createExecution(purpose: string, status: object): Promise<string> {
    const name = `wfe-${purpose}-${suffix}`;
    const workflowRef = { workflowId, version: "1.0.0", containerImage: "registry.invalid/cleanup:1.0.0" };
    await create(workflowExecutions, name, { workflowRef, targetResource: `node/${name}` });
    await setStatus(workflowExecutions, name, { phase: "Pending" });
    await setStatus(workflowExecutions, name, status);
    return name;
  }

  async function create(type: ResourceType, name: string, spec: object): Promise<void> {
    await cluster.client.create(type, { metadata: { name, namespace }, spec } as KubeObject);
  }

  async function setStatus(type: ResourceType, name: string, status: object): Promise<void> {
    await cluster.client.patch(type, { namespace, name }, { merge: { status } }, { subresource: "status" });
  }

  async function read<T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T> {
    const found = await cluster.client.get(type, { namespace, name });
    if (!found) throw new Error(`no ${type.kind} ${name}`);
    return found;
  }

  async function ownPauses() {
    const { items } = await cluster.client.list(automationPauses, { namespace });
    return items.filter(({ spec }) => JSON.stringify(spec).includes(`paused-${suffix}`));
  }

  async function executionsOn(target: string): Promise<readonly WorkflowExecution[]> {
    const { items } = await cluster.client.list(workflowExecutions, { namespace });
    return items.filter(({ spec }) => spec.targetResource === target);
  }
});

const failed = {
  phase: "Failed",
  outcome: "Failed",
  completionTime: now(),
  failureDetails: {
    reason: "TaskRunFailed",
    message: "it failed",
    failedAt: now(),
    naturalLanguageSummary: "It failed.",
    wasExecutionFailure: true,
    requiresManualReview: true,
  },
};

function now(): string {
  return new Date().toISOString();
}
