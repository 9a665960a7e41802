import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPath } from "./console-pages.ts";
import { Scenario } from "./scenario.ts";

let scenario: Scenario;
let page: Page;
beforeAll(async () => {
  scenario = await Scenario.start();
  await scenario.signalAt("HighLatency", "shop/deployment/web", "AwaitingApproval");
  page = await scenario.console.signIn();
});
afterAll(() => scenario.stop());

it("shows that its data is old while the server is gone, allows no action, and is current after kill -9 and a restart", async () => {
  await openPath(page, "/");
  const approve = page.getByRole("button", { name: "Approve" });
  await expect.poll(() => approve.isEnabled()).toBe(true);

  await scenario.up.crash();

  await page.getByText(/This page is \d+s old/).waitFor();
  expect(await approve.isDisabled()).toBe(true);
  expect(await looks(page, "Reject")).toEqual(await looks(page, "Approve"));
  await scenario.up.launch();
  await page.getByText(/This page is \d+s old/).waitFor({ state: "detached" });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  // A change after the restart: the page follows the new process, with the session of the old one.
  await scenario.up.signal("AfterRestart", "node/worker-7");
  await page.getByRole("link", { name: "AfterRestart" }).waitFor();
  expect(scenario.console.problems).toEqual([]);
});

it("shows that its data is old, and allows no action, if changes never arrive", async () => {
  const other = await scenario.console.signIn();
  await other.route("**/api/v1/stream?**", () => {});
  await openPath(other, "/");
  const approve = other.getByRole("button", { name: "Approve" });
  await approve.waitFor();

  await other.getByText(/This page is \d+s old/).waitFor();

  expect(await approve.isDisabled()).toBe(true);
  await other.close();
});

it("is not marked as old because the server has just started", async () => {
  const other = await scenario.console.signIn();
  const beat = { serverTime: new Date().toISOString(), currentAt: new Date(0).toISOString() };
  await other.route("**/api/v1/stream?**", (route) =>
    route.fulfill({ contentType: "text/event-stream", body: `event: beat\ndata: ${JSON.stringify(beat)}\n\n` }),
  );
  await openPath(other, "/");

  await other.getByText("Live", { exact: true }).waitFor();

  await other.close();
});

it("shows each line of an output once after kill -9 and a restart, also those that were written meanwhile", async () => {
  const incident = await scenario.runDrain("node/worker-2");
  await openPath(page, "/executions");
  await page.getByRole("link", { name: "node-drain" }).first().click();
  const [output, state] = [page.getByRole("log"), page.locator(".log-state")];
  await output.getByText("cordoned node/worker-2").waitFor();
  await state.getByText("Live").waitFor();

  await scenario.up.crash();
  await state.getByText("Interrupted, reconnecting").waitFor();
  expect(await output.textContent()).toContain("cordoned node/worker-2");
  scenario.finishDrains();
  await scenario.up.launch();
  await scenario.reaches(incident, "Verifying");

  await state.getByText("Complete").waitFor();
  expect((await output.textContent())?.trim().split("\n")).toEqual(["act / say", "cordoned node/worker-2", "drained"]);
  expect(scenario.console.problems).toEqual([]);
});

/** The colours of a button. */
function looks(page: Page, name: string): Promise<object> {
  return page
    .getByRole("button", { name })
    .first()
    .evaluate<object, object>(`(button) => {
      const { color, backgroundColor, borderColor } = getComputedStyle(button);
      return { color, backgroundColor, borderColor };
    }`);
}
