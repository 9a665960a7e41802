import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dataShown, everyPath, openPath } from "./console-pages.ts";
import { Scenario } from "./scenario.ts";

let scenario: Scenario;
let page: Page;
beforeAll(async () => {
  scenario = await Scenario.start();
  await scenario.play();
  page = await scenario.console.signIn();
});
afterAll(() => scenario.stop());
afterEach(() => expect(scenario.console.problems).toEqual([]));

describe("Now", () => {
  it.each([
    ["Needs you", "ImagePullFailing", "Acknowledge"],
    ["Needs you", "HighLatency", "Approve"],
    ["Running", "KernelDeadlock", "Cancel"],
    ["Queued", "DiskPressure", "next in queue"],
    ["Cooling down", "ImagePressure", "in "],
    ["Backing off", "CertExpiring", "attempt "],
    ["Paused", "DiskPressure", "See pauses"],
    ["Waiting", "ClockSkew", "NoMatchingRule"],
    ["Recently done", "CrashLooping", "ago"],
  ])("shows in the lane %s the incident %s with %s", async (lane, signal, text) => {
    await openPath(page, "/");

    const line = page
      .getByRole("region", { name: lane, exact: true })
      .getByRole("listitem")
      .filter({ hasText: signal });

    await line.first().waitFor();
    expect(await line.first().textContent()).toContain(text);
  });

  it("shows a new incident without a reload", async () => {
    await openPath(page, "/");

    await scenario.up.signal("NewlyFiring", "node/worker-9");

    await page.getByRole("link", { name: "NewlyFiring" }).waitFor();
  });
});

describe("a list whose filter matches nothing", () => {
  it.each(["/pauses", "/approvals", "/incidents", "/locks"])(
    "%s does not claim that there is nothing",
    async (path) => {
      await openPath(page, `${path}?search=nothing-has-this-name`);

      await page.getByText("Nothing matches the filter").waitFor();
      await page.getByRole("link", { name: "Clear the filter" }).click();

      await page.locator("tbody tr").first().waitFor();
    },
  );
});

describe("every page", () => {
  it.each([
    ["/incidents", "Incidents", ["KernelDeadlock", "ClockSkew", "HighLatency"]],
    ["/executions", "Executions", ["node-drain", "restart-deployment"]],
    ["/targets", "Targets", ["node/worker-2", "payment/deployment/api"]],
    ["/approvals", "Approvals", ["scale-out", "shop/deployment/web"]],
    ["/pauses", "Pauses", ["node/worker-4", "release 4.2", "interlock-admin"]],
    ["/storm", "Storm", ["Signals", "Incidents", "Runs"]],
    ["/locks", "Locks", ["node/worker-2"]],
    ["/tasks", "Coding tasks", []],
    ["/catalog", "Workflows and rules", ["node-disk-cleanup", "scale-out"]],
    ["/ledger", "Ledger", ["incident.decided"]],
  ])("%s is %s and shows its data", async (path, title, texts) => {
    await openPath(page, path);

    expect(await page.locator("main h1").textContent()).toBe(title);
    for (const text of texts) await page.locator("main").getByText(text).filter({ visible: true }).first().waitFor();
  });

  it("is reached by the navigation or from a page that it lists", async () => {
    await openPath(page, "/");

    const paths = await everyPath(page);

    const patterns = paths.map((path) => path.replace(/\/kubernaut-[a-z]+\/.*/, "/…").replace(/\?.*/, ""));
    expect(patterns).toEqual(expect.arrayContaining(["/", "/incidents/…", "/executions/…", "/target"]));
  });

  it("fits a phone without scrolling sideways", async () => {
    await openPath(page, "/");
    const paths = await everyPath(page);
    const phone = await scenario.console.signIn({ viewport: { width: 390, height: 844 }, isMobile: true });
    const tooWide: string[] = [];

    for (const path of paths) {
      await openPath(phone, path);
      const width = await phone.evaluate<number>("document.documentElement.scrollWidth");
      if (width > 390) tooWide.push(`${path} is ${width} px wide`);
    }

    expect(tooWide).toEqual([]);
  });
});

describe("an incident's page", () => {
  it("shows its state, the checks of its decision and the next step", async () => {
    await openPath(page, "/");
    await page.getByRole("link", { name: "ImagePullFailing" }).click();
    await dataShown(page);

    await page.locator("main h1", { hasText: "ImagePullFailing" }).waitFor();
    await expect.poll(() => page.title()).toBe("ImagePullFailing · Interlock");
    await page.getByRole("table", { name: "Checks of the decision" }).waitFor();
    await page.getByRole("button", { name: "Acknowledge" }).first().waitFor();
    await page.getByText("prod-eu-1").first().waitFor();
  });
});

describe("the page of an incident that waits for an approval", () => {
  it("shows what is to be approved", async () => {
    await openPath(page, "/");
    await page.getByRole("link", { name: "HighLatency" }).click();

    const approval = page.getByRole("region", { name: "Approval" });
    await approval.locator("dl").waitFor();
    expect(await approval.textContent()).toMatch(/selected by rule slow-deployments.*Expires.*REPLICAS6/);
  });
});

describe("a pause", () => {
  it("leads to the incidents that it holds back", async () => {
    await openPath(page, "/pauses");

    await page.getByRole("row").filter({ hasText: "node/worker-4" }).getByRole("link", { name: "1" }).click();

    await page.waitForURL(/lane=paused&target=node%2Fworker-4/);
    await page.getByText("1 in total").waitFor();
  });
});

describe("an execution's page", () => {
  it("shows its steps, and why it failed", async () => {
    await openPath(page, "/executions?phase=Failed");
    await page.getByRole("link", { name: "restart-deployment" }).first().click();
    await dataShown(page);

    await page.getByText("TaskRunFailed").first().waitFor();
    await page.getByRole("region", { name: "Tasks and steps" }).getByText("say").first().waitFor();
  });
});

describe("a target's page", () => {
  it("shows its holder, its history, and why each workflow may or may not act", async () => {
    await openPath(page, `/target?target=${encodeURIComponent("node/worker-2")}`);

    const holder = page.getByRole("region", { name: "Holder" });
    expect(await holder.textContent()).toMatch(/Held by.*node-drain/);
    await page.getByRole("region", { name: "Timeline" }).waitFor();
    const workflows = page.getByRole("region", { name: "May a workflow act now?" });
    const summary = workflows.locator("summary").filter({ hasText: "node-disk-cleanup" });
    expect(await summary.textContent()).toMatch(/ResourceBusy.*node\/worker-2 is held by execution/);
  });

  it("has a link to the incidents that wait for it", async () => {
    await openPath(page, `/target?target=${encodeURIComponent("node/worker-2")}`);

    await page.getByRole("region", { name: "Holder" }).getByRole("link", { name: "1", exact: true }).click();

    await page.getByText("1 in total").waitFor();
    expect(await page.locator("tbody [data-row]").allTextContents()).toEqual(["DiskPressure"]);
  });
});

describe("filters", () => {
  it("are in the URL, and a link with them shows the same rows", async () => {
    await openPath(page, "/incidents");
    await page.getByLabel("Lane").selectOption("needsYou");
    await page.getByPlaceholder("Filter by words").fill("HighLatency");
    await page.waitForURL(/lane=needsYou/);
    await page.waitForURL(/search=HighLatency/);

    const other = await scenario.console.signIn();
    await openPath(other, new URL(page.url()).pathname + new URL(page.url()).search);

    for (const one of [page, other]) {
      await one.getByText("1 in total").waitFor();
      expect(await one.locator("tbody [data-row]").allTextContents()).toEqual(["HighLatency"]);
    }
  });
});

describe("a choice", () => {
  it("shows a value of the URL that it does not offer", async () => {
    await openPath(page, "/incidents?phase=Blocked,Failed");

    const choice = page.getByLabel("Phase");

    expect(await choice.inputValue()).toBe("Blocked,Failed");
    expect(await choice.locator("option:checked").textContent()).toBe("Phase: Blocked,Failed");
  });
});

describe("the keyboard", () => {
  it("opens the list of shortcuts with ?, every page with g and its key, and search with /", async () => {
    await openPath(page, "/");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Open Executions").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.waitForURL(/\/executions$/);
    await page.keyboard.press("/");
    await page.keyboard.type("ClockSkew");
    await page.getByRole("option", { name: /ClockSkew/ }).waitFor();

    await page.keyboard.press("Enter");

    await page.waitForURL(/\/incidents\/kubernaut-system\/rr-/);
  });

  it("belongs to the search from the next key on, before the page is painted again", async () => {
    await openPath(page, "/");

    const focused = await page.evaluate<string>(`(async () => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
      for (let i = 0; i < 10; i++) await undefined;
      return document.activeElement.getAttribute("role");
    })()`);

    expect(focused).toBe("combobox");
    await page.keyboard.press("Escape");
  });

  it("opens the search at once after another dialog was closed, whose close event comes later", async () => {
    await openPath(page, "/");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();

    await page.evaluate(`(async () => {
      const dialog = document.querySelector("dialog[open]");
      const closed = new Promise((resolve) => dialog.addEventListener("close", resolve));
      dialog.close();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
      await closed;
      await new Promise(requestAnimationFrame);
    })()`);

    expect(await page.getByRole("combobox").count()).toBe(1);
    await page.keyboard.press("Escape");
  });

  it("searches the rows that the user may read", async () => {
    const other = await scenario.console.signIn();
    await other.route("**/api/v1/session", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), kinds: ["incidents"] } });
    });
    await other.route("**/api/v1/rows/approvals?**", (route) => route.fulfill({ status: 403, json: {} }));
    await openPath(other, "/");

    await other.keyboard.press("/");
    await other.keyboard.type("ClockSkew");

    await other.getByRole("option", { name: /ClockSkew/ }).waitFor();
    await other.close();
  });

  it("searches again after a failure, and does not claim that nothing was found", async () => {
    await openPath(page, "/");
    await page.route("**/api/v1/rows/**", (route) => route.abort());
    await page.keyboard.press("/");
    await page.keyboard.type("ClockSkew");
    await page.getByText("The search failed; trying again.").waitFor();

    await page.unroute("**/api/v1/rows/**");

    await page.getByRole("option", { name: /ClockSkew/ }).waitFor();
    await page.keyboard.press("Escape");
  });
});

/** Last, as its incidents fill the lists of the tests above. */
describe("a storm", () => {
  beforeAll(() => scenario.storm());

  it("is one line of Now, which leads to all its incidents", async () => {
    await openPath(page, "/");
    const running = page.getByRole("region", { name: "Running", exact: true });
    const line = running.getByRole("listitem").filter({ hasText: "24 incidents" });

    await line.getByRole("link", { name: "Show 24" }).click();

    await page.getByText("24 in total").waitFor();
    await page.locator("main").getByText("team-0/pod/app-0").first().waitFor();
  });

  it("is on the page of its incidents a short list, which can be completed", async () => {
    await openPath(page, "/incidents?search=team-0/pod/app-0");
    await page.locator("tbody [data-row]").first().click();
    const followers = page.getByRole("region", { name: "Incidents that follow the same run" });
    await followers.waitFor();
    expect(await followers.getByRole("listitem").count()).toBe(8);

    await followers.getByRole("button", { name: "Show all 23" }).click();

    await expect.poll(() => followers.getByRole("listitem").count()).toBe(23);
  });

  it("is counted for every period of its page", async () => {
    await openPath(page, "/storm");
    const periods = await page.getByRole("navigation", { name: "Period" }).getByRole("link").all();
    const paths = await Promise.all(periods.map((period) => period.getAttribute("href")));

    for (const path of paths) {
      await openPath(page, path ?? "");
      await page
        .getByRole("row", { name: /^Deduplicated/ })
        .getByText("−120")
        .waitFor();
    }

    expect(paths).toHaveLength(5);
  });
});

it("is served with a content security policy that allows no inline code, and loads nothing from elsewhere", async () => {
  const response = await page.goto(`${scenario.console.url}/`);

  const policy = response?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain("unsafe");
  expect(policy).toContain("frame-ancestors 'none'");
});
