import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dataShown, openPath } from "./console-pages.ts";
import { Scenario } from "./scenario.ts";

const [, walk = ""] = readFileSync("docs/console.md", "utf8").split("\n## A walk\n");
const sections = (walk.split("\n## ")[0] ?? "").split("\n### ").slice(1);

let scenario: Scenario;
let page: Page;
beforeAll(async () => {
  scenario = await Scenario.start();
  await scenario.play();
  page = await scenario.console.signIn();
});
afterAll(() => scenario.stop());

describe("the walk of docs/console.md", () => {
  it("answers three questions", () => {
    expect(sections.map((section) => section.split("\n")[0])).toEqual([
      "Why does this incident wait?",
      "Who holds the target?",
      "How is a block cleared?",
    ]);
  });

  it.each(sections.map((section) => [section.split("\n")[0] ?? "", readSteps(section)] as const))(
    "%s is answered with at most three clicks from Now",
    async (_question, steps) => {
      await openPath(page, "/");

      for (const step of steps) await follow(step);

      const clicks = steps.filter(({ does }) => does === "Click").length;
      expect(clicks).toBeGreaterThan(0);
      expect(clicks).toBeLessThanOrEqual(3);
    },
  );

  it("ends with the block cleared", async () => {
    const needsYou = page.getByRole("region", { name: "Needs you" });

    await needsYou.getByRole("button", { name: "Acknowledge" }).waitFor({ state: "detached" });
  });
});

interface Step {
  readonly does: string;
  readonly what: string;
  /** The region of the page, or `dialog`. */
  readonly where: string | undefined;
}

/** Every numbered line is a step; one that cannot be read is a failure. */
function readSteps(section: string): readonly Step[] {
  const lines = section.split("\n").filter((line) => /^\d+\. /.test(line));
  return lines.map((line) => {
    const [, does, what, where] = /^\d+\. (Click|Read|Type) \*\*(.+?)\*\*(?: in \*(.+?)\*)?/.exec(line) ?? [];
    if (!does || !what) throw new Error(`not a step: ${line}`);
    return { does, what, where };
  });
}

async function follow({ does, what, where }: Step): Promise<void> {
  const place = within(where);
  if (does === "Read") return place.getByText(what).first().waitFor();
  if (does === "Type") return page.getByRole("dialog").getByLabel("Reason").fill(what);
  await control(place, what).first().click();
  if (where !== "dialog" && (await page.getByRole("dialog").count()) === 0) await dataShown(page);
}

function within(where: string | undefined): Locator {
  if (where === undefined) return page.locator("main");
  return where === "dialog" ? page.getByRole("dialog") : page.getByRole("region", { name: where, exact: true });
}

/** A link or button with that name, or the link beside that label. */
function control(place: Locator, name: string): Locator {
  const labelled = place.locator("dt", { hasText: name }).locator("xpath=following-sibling::dd").getByRole("link");
  return place
    .getByRole("link", { name })
    .or(place.getByRole("button", { name, exact: true }))
    .or(labelled);
}
