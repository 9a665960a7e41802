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
  await other.getByText("a link works once").waitFor();
});

it("explains how to log in without a session", async () => {
  const page = await server.newPage();
  await page.goto(`${server.url}/incidents`);

  await page.getByRole("heading", { name: "Log in to Interlock" }).waitFor();
  await page.getByText("interlock users link", { exact: true }).waitFor();
});
