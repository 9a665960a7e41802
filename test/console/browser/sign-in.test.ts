import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ConsoleInBrowser } from "./console-in-browser.ts";

let server: ConsoleInBrowser;
beforeAll(async () => {
  server = await ConsoleInBrowser.start();
});
afterAll(() => server.stop());
afterEach(() => expect(server.problems).toEqual([]));

it("opens Now with the link that up prints, and only once", async () => {
  const page = await server.openPrintedLink();
  const other = await server.openPrintedLink();

  await page.getByRole("heading", { name: "Now" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  expect(await other.textContent("body")).toContain("a link works once");
});

it("asks for a link without a session", async () => {
  const page = await server.newPage();
  await page.goto(`${server.url}/incidents`);

  await page.getByRole("heading", { name: "Sign in to Interlock" }).waitFor();
  await page.getByText("interlock users link", { exact: true }).waitFor();
});
