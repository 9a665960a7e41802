import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seedIncidents } from "../seed-incidents.ts";
import { ConsoleInBrowser } from "./console-in-browser.ts";
import { dataShown, everyPath, openPath } from "./console-pages.ts";

const maxBlockMs = 100;

let server: ConsoleInBrowser;
let page: Page;
beforeAll(async () => {
  const counts = { open: 10_000, closed: 100_000 };
  server = await ConsoleInBrowser.start({ seed: (dataDir) => seedIncidents(dataDir, counts) });
  page = await server.signIn();
  await page.addInitScript(`
    window.blocks = [];
    new PerformanceObserver((list) => blocks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: "longtask", buffered: true });
  `);
  await openPath(page, "/");
});
afterAll(() => server.discard());

it("shows 10,000 open incidents on Now", async () => {
  await page.getByText("10,000").first().waitFor();
});

it("no page blocks its main thread for longer than 100 ms", { timeout: 300_000 }, async () => {
  const tooLong: string[] = [];

  for (const path of await everyPath(page)) {
    await openPath(page, path);
    tooLong.push(...(await longBlocks(path)));
  }

  expect(tooLong).toEqual([]);
});

it("a list of all incidents does not block while it scrolls, is filtered and changes", {
  timeout: 300_000,
}, async () => {
  await openPath(page, "/incidents");
  for (let i = 0; i < 40; i++) {
    await page.mouse.wheel(0, 4_000);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
  }
  await page.getByPlaceholder("Filter by words").fill("DiskPressure worker-11");
  await dataShown(page);
  await server.up.signal("DiskPressure", "node/worker-11-new");
  await page.getByText("worker-11-new").first().waitFor();

  expect(await longBlocks("/incidents")).toEqual([]);
});

async function longBlocks(path: string): Promise<readonly string[]> {
  const blocks = await page.evaluate<number[]>("blocks");
  return blocks.filter((ms) => ms > maxBlockMs).map((ms) => `${path} blocks for ${Math.round(ms)} ms`);
}
