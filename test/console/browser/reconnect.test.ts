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
  await scenario.up.launch();
  await page.getByText(/This page is \d+s old/).waitFor({ state: "detached" });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  // A change after the restart: the page follows the new process, with the session of the old one.
  await scenario.up.signal("AfterRestart", "node/worker-7");
  await page.getByRole("link", { name: "AfterRestart" }).waitFor();
  expect(scenario.console.problems).toEqual([]);
});
