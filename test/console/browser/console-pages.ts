import type { Page } from "playwright-core";
import { until } from "../../executor/processes/until.ts";

/** Opens a path of the console, and waits until its data is shown. */
export async function openPath(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href);
  await dataShown(page);
}

/** Waits until a page has its heading and has read its data. */
export async function dataShown(page: Page): Promise<void> {
  await page.locator("main h1").first().waitFor();
  await until("the data is shown", async () => (await page.locator(".loading").count()) === 0);
}

/**
 * One path of every page: those of the navigation, and of each kind of page that they link to, the first. `page` is signed
 * in.
 */
export async function everyPath(page: Page): Promise<readonly string[]> {
  const found = new Map<string, string>();
  await page.locator("nav a").first().waitFor({ state: "attached" });
  const listed = await hrefs(page, "nav");
  for (const path of listed) {
    await openPath(page, path);
    for (const href of [path, ...(await hrefs(page, "main"))]) {
      const pattern = pagePattern(href);
      if (!found.has(pattern)) found.set(pattern, href);
    }
  }
  return [...found.values()];
}

async function hrefs(page: Page, within: string): Promise<readonly string[]> {
  const links = await page.locator(`${within} a[href^="/"]`).all();
  return Promise.all(links.map(async (link) => (await link.getAttribute("href")) ?? "/"));
}

/** Links to the same page have the same pattern: names and filters are left out. */
function pagePattern(href: string): string {
  const [path = ""] = href.split("?");
  return path.replace(/^(\/[^/]+)\/[^/]+\/[^/]+$/, "$1/NAMESPACE/NAME");
}

/** Presses Tab until the button or link with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate<string>(focusedName)) === name) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

/** After the last element of a page the focus is in the browser itself, and then at the first one again. */
const focusedName = `(document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "").trim()`;
