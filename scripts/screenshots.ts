import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { dataShown, openPath } from "../test/console/browser/console-pages.ts";
import { Scenario } from "../test/console/browser/scenario.ts";

// npm run screenshots
//
// Takes the pictures of docs/console.md and the README, in Chromium at an Interlock with example incidents.

const folder = "docs/images";
const size = { width: 1_280, height: 800 };

const scenario = await Scenario.start();
try {
  await scenario.play();
  mkdirSync(folder, { recursive: true });
  const page = await scenario.console.signIn({ viewport: size, colorScheme: "light" });
  await takePicture(page, "now", "/");
  await openPath(page, "/");
  await page.getByRole("region", { name: "Needs you" }).getByRole("link", { name: "ImagePullFailing" }).click();
  await takePicture(page, "incident");
  await takePicture(page, "target", `/target?target=${encodeURIComponent("node/worker-2")}`);
  await scenario.storm();
  await openPath(page, "/storm?window=15m");
  // All signals are counted.
  await page
    .getByRole("row", { name: /^Deduplicated/ })
    .getByText("−120")
    .waitFor();
  await takePicture(page, "storm");
} finally {
  await scenario.stop();
}
process.exit();

async function takePicture(page: Page, name: string, path?: string): Promise<void> {
  if (path === undefined) await dataShown(page);
  else await openPath(page, path);
  await page.getByText("Live", { exact: true }).waitFor();
  // Removes the focus ring around the heading.
  await page.mouse.click(size.width - 5, size.height - 5);
  await page.screenshot({ path: `${folder}/console-${name}.png`, animations: "disabled", caret: "hide" });
}
