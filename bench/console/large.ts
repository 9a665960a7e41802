import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";
import { remediationRequests } from "../../src/resources/index.ts";
import { ConsoleInBrowser } from "../../test/console/browser/console-in-browser.ts";
import { seededName, seedIncidents } from "../../test/console/seed-incidents.ts";
import { until } from "../../test/executor/processes/until.ts";
import { median, quantile } from "../locks/quantile.ts";
import type { Plan } from "./plans.ts";

const counts = { open: 10_000, closed: 90_000 };

/** A browser at an installation with 100,000 incidents, 10,000 of them open. */
export async function measureLarge(plan: Plan) {
  const server = await ConsoleInBrowser.start({ seed: (dataDir) => seedIncidents(dataDir, counts) });
  try {
    const blankTabs = await openBlankTab(server);
    const page = await server.signIn();
    const coldMs = await firstRowMs(page, server.url);
    const loads: number[] = [];
    for (let i = 0; i < plan.loads; i++) loads.push(await firstRowMs(page, server.url));
    const idle = await idlePercents(server, blankTabs, plan.idleMs);
    const actions = await actionTimes(page, plan.actions);
    const changes = await changeTimes(server, page, plan.changes);
    return {
      figures: {
        firstPaintMs10k: median(loads),
        changeToPixelP95Ms: quantile(changes, 0.95),
        actionP95Ms: quantile(actions, 0.95),
        idleTabCpuPercent: idle.console,
      },
      calibration: {
        // The server reads all incidents for its first viewer.
        firstViewerPaintMs: coldMs,
        changeToPixelMedianMs: median(changes),
        actionMedianMs: median(actions),
        // What Chromium itself uses for an empty tab.
        blankTabCpuPercent: idle.blank,
      },
    };
  } finally {
    await server.discard();
  }
}

/** Runs in the page. Notes when the first row of a page was painted, and when each text of the benchmark was. */
const watchPaints = `
  window.paintedAt = {};
  const painted = (name) => requestAnimationFrame(() => setTimeout(() => { paintedAt[name] ??= performance.timeOrigin + performance.now(); }));
  new MutationObserver(() => {
    if (!paintedAt.row && document.querySelector("main [data-row]")) painted("row");
    for (const [name] of (document.querySelector("main")?.textContent ?? "").matchAll(/Bench-\\d+/g)) if (!paintedAt[name]) painted(name);
  }).observe(document, { childList: true, subtree: true, characterData: true });
`;

/** From the start of the navigation until the first incident of Now is painted. */
async function firstRowMs(page: Page, url: string): Promise<number> {
  const fresh = await page.context().newPage();
  await fresh.addInitScript(watchPaints);
  await fresh.goto(`${url}/`);
  const paintedMs = await until(
    "the first row is painted",
    () => fresh.evaluate<number | undefined>("paintedAt.row - performance.timeOrigin || undefined"),
    // The server reads all incidents for its first viewer, which takes long on a machine under load.
    { withinMs: 120_000 },
  );
  await fresh.close();
  return paintedMs;
}

/** From the request to create an incident until its name is painted. Both clocks are this machine's. */
async function changeTimes(server: ConsoleInBrowser, page: Page, count: number): Promise<readonly number[]> {
  await page.addInitScript(watchPaints);
  await page.goto(`${server.url}/incidents`);
  await page.locator("tbody [data-row]").first().waitFor();
  const client = await server.up.client();
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const name = `Bench-${i}`;
    const sentAt = performance.timeOrigin + performance.now();
    await client.create(remediationRequests, incident(name));
    const shownAt = await until("the change is painted", () =>
      page.evaluate<number | undefined>(`paintedAt["${name}"]`),
    );
    times.push(shownAt - sentAt);
  }
  return times;
}

function incident(signalName: string) {
  const now = new Date().toISOString();
  return {
    apiVersion: remediationRequests.apiVersion,
    kind: remediationRequests.kind,
    metadata: { namespace: "kubernaut-system", name: `rr-${signalName.toLowerCase()}` },
    spec: {
      signalFingerprint: Buffer.from(signalName).toString("hex").padStart(64, "0"),
      signalName,
      severity: "warning",
      targetResource: { kind: "Node", name: signalName.toLowerCase() },
      firingTime: now,
      receivedTime: now,
    },
  };
}

/** Each cancels an open incident, sent by the page. */
async function actionTimes(page: Page, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const body = JSON.stringify({ object: seededName(i), reason: "benchmark", key: `benchmark-${i}` });
    const ms = await page.evaluate<number>(`(async () => {
      const startedAt = performance.now();
      const headers = { "content-type": "application/json" };
      const response = await fetch("/api/v1/operations/cancel", { method: "POST", headers, body: ${JSON.stringify(body)} });
      if (!response.ok) throw new Error(await response.text());
      await response.json();
      return performance.now() - startedAt;
    })()`);
    times.push(ms);
  }
  return times;
}

/** The process ids of the browser's renderers, with the seconds of processor time they have used. */
async function rendererSeconds({ browser }: ConsoleInBrowser): Promise<ReadonlyMap<number, number>> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return new Map(processInfo.flatMap(({ type, id, cpuTime }) => (type === "renderer" ? [[id, cpuTime]] : [])));
}

/** Opens a tab with an empty page, and returns the renderers of the browser, which has no other tab. */
async function openBlankTab(server: ConsoleInBrowser): Promise<ReadonlySet<number>> {
  await server.newPage();
  return new Set((await rendererSeconds(server)).keys());
}

/** The processor time of the tabs of the console, of which one shows Now, and of the blank ones, in percent of one core. */
async function idlePercents(server: ConsoleInBrowser, blankTabs: ReadonlySet<number>, durationMs: number) {
  const before = await rendererSeconds(server);
  await wait(durationMs);
  const percents = { console: 0, blank: 0 };
  for (const [id, seconds] of await rendererSeconds(server)) {
    percents[blankTabs.has(id) ? "blank" : "console"] += (100_000 * (seconds - (before.get(id) ?? 0))) / durationMs;
  }
  return percents;
}
