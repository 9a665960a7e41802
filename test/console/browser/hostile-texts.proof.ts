import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codingTasks } from "../../../src/resources/index.ts";
import { draftTask } from "../../../src/tasks/draft-task.ts";
import { ConsoleInBrowser } from "./console-in-browser.ts";
import { everyPath, openPath } from "./console-pages.ts";
import { hostileTexts } from "./hostile-corpus.ts";

let server: ConsoleInBrowser;
let page: Page;
beforeAll(async () => {
  server = await ConsoleInBrowser.start({
    workflows: { echo: { script: 'echo "$TEXT"; exit 1', parameters: { TEXT: { type: "string" } } } },
    rules: [
      { name: "echo", match: { severity: "high" }, workflow: "echo", parameters: { TEXT: "{{ annotations.text0 }}" } },
    ],
  });
  page = await server.signIn();
  await sendSignals();
  await server.up.interlock("pause", "target", "node/paused", "--reason", hostileTexts.join(" ").replaceAll("\0", ""));
  await createTask();
});
afterAll(() => server.stop());

describe("texts of senders, operators and programs", () => {
  it("are shown as they are on the page of their incident", async () => {
    await openPath(page, "/incidents?search=labelled");
    await page.locator("tbody [data-row]").first().click();
    await page.getByText("annotation text0").or(page.getByText("text0")).first().waitFor();

    const shown = (await page.locator("main").textContent()) ?? "";

    for (const text of hostileTexts) expect(normal(shown)).toContain(normal(withVisibleDirection(text)));
  });

  it("are shown as they are in the list of incidents, where a signal is named like them", async () => {
    await openPath(page, "/incidents");

    for (const text of hostileTexts.slice(0, 6)) {
      await page.getByPlaceholder("Filter by words").fill(text);
      await page.locator("tbody [data-row]").filter({ hasText: text }).first().waitFor();
    }
  });

  it("run nothing on any page", async () => {
    await openPath(page, "/");
    const paths = await everyPath(page);
    const executed: string[] = [];

    for (const path of paths) {
      await openPath(page, path);
      await hoverEverything(page);
      if (await page.evaluate<boolean>(`"pwned" in window || "pwned" in {}`)) executed.push(path);
      expect(await injectedElements(page), path).toEqual([]);
    }

    expect(executed).toEqual([]);
    expect(server.problems).toEqual([]);
  });

  it("run nothing in the address of a page, in a search and in a message of the server", async () => {
    for (const text of hostileTexts) {
      const query = encodeURIComponent(text);
      const paths = [`/incidents?search=${query}&lane=${query}`, `/target?target=${query}`, `/ledger?search=${query}`];
      for (const path of paths) {
        await page.goto(`${server.url}${path}`);
        await page.locator("main h1").first().waitFor();
      }
    }

    expect(await page.evaluate<boolean>(`"pwned" in window`)).toBe(false);
    expect(server.problems).toEqual([]);
  });
});

/** Each text as the name of a signal; all of them as labels and annotations of one; and one that a workflow prints and fails with. */
async function sendSignals(): Promise<void> {
  for (const [index, text] of hostileTexts.entries()) {
    await server.up.signal(text.replace(/\s/g, " "), `node/named-${index}`, { severity: text.slice(0, 40) });
  }
  const texts = Object.fromEntries(hostileTexts.map((text, index) => [`text${index}`, text]));
  await server.up.signal("labelled", "node/labelled", { labels: texts, annotations: texts });
  await server.up.signal("printed", "node/printed", { severity: "high", annotations: texts });
  await server.up.signal("paused", "node/paused", { severity: "high", annotations: texts });
}

/** As a comment on a merge request makes one. */
async function createTask(): Promise<void> {
  const text = hostileTexts.join(" ");
  const [path = "", requestedBy = ""] = hostileTexts;
  const reading = draftTask(
    {
      type: "Command",
      project: { host: "gitlab.example", id: 1, path: "group/project" },
      claimKey: "hostile",
      source: "webhook",
      requestedBy,
      receivedTime: new Date().toISOString(),
      mergeRequest: { iid: 1, headSha: "a".repeat(40), sourceBranch: "work", targetBranch: "main" },
      note: { id: 1, authorId: 1, body: text, verb: "do", instruction: text },
    },
    "kubernaut-system",
  );
  if (reading.kind === "problem") throw new Error(reading.problem);
  const { task } = reading;
  const client = await server.up.client();
  // Another writer of tasks may put any text there.
  const project = { ...task.spec.project, path };
  await client.create(codingTasks, { ...task, spec: { ...task.spec, project } });
}

/** Elements and attributes that no page of ours has. */
function injectedElements(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll("*")].filter((element) =>
    element.matches("script:not([src]), iframe, object, embed, base, math, meta[http-equiv], form[action], #trap") ||
    [...element.attributes].some(({ name, value }) => name.startsWith("on") || /^\\s*(javascript|data):/i.test(value) && name === "href")
  ).map((element) => element.outerHTML.slice(0, 200))`);
}

/** Handlers of an injected attribute would run with the mouse or the focus on its element. */
async function hoverEverything(page: Page): Promise<void> {
  await page.evaluate(`document.querySelectorAll("main *").forEach((element) => {
    element.dispatchEvent(new MouseEvent("mouseover", { bubbles: false }));
  })`);
}

/** White space and control characters may be shown otherwise. */
/** Pages show characters that change the direction of text as escapes. */
function withVisibleDirection(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

function normal(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
