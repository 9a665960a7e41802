import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyPath, openPath } from "./console-pages.ts";
import { Scenario } from "./scenario.ts";

let scenario: Scenario;
beforeAll(async () => {
  scenario = await Scenario.start();
  await scenario.play();
});
afterAll(() => scenario.stop());

describe.each(["light", "dark"] as const)("in the theme %s", (colorScheme) => {
  let page: Page;
  beforeAll(async () => {
    page = await scenario.console.signIn({ colorScheme });
    // Before the page's own scripts: its content security policy lets no other script in later.
    await page.addInitScript(axe.source);
    await openPath(page, "/");
  });

  it("no page has a serious or critical problem of accessibility", { timeout: 300_000 }, async () => {
    const found: string[] = [];

    for (const path of await everyPath(page)) {
      await openPath(page, path);
      found.push(...(await seriousProblems(page)).map((problem) => `${path}: ${problem}`));
    }

    expect(found).toEqual([]);
  });

  it.each([
    ["the shortcuts", "Keyboard shortcuts"],
    ["the search", /^Search/],
    ["an action", "Pause…"],
  ])("the dialog of %s has none", async (_, button) => {
    await openPath(page, "/");
    await page.getByRole("button", { name: button }).first().click();
    await page.getByRole("dialog").waitFor();

    expect(await seriousProblems(page)).toEqual([]);
  });

  it("no page has one at phone width", { timeout: 300_000 }, async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const found: string[] = [];

    for (const path of ["/", "/incidents", "/approvals"]) {
      await openPath(page, path);
      found.push(...(await seriousProblems(page)).map((problem) => `${path}: ${problem}`));
    }

    expect(found).toEqual([]);
  });
});

async function seriousProblems(page: Page): Promise<readonly string[]> {
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
