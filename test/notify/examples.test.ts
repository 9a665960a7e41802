import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NotifierWorld } from "./notifier-world.ts";

const page = readFileSync(new URL("../../docs/notify.md", import.meta.url), "utf8");
const examples = Array.from(page.matchAll(/```yaml\n([\s\S]*?)```/g), ([, text = ""]) => text);
const withSecrets = examples.filter((text) => text.includes("/etc/interlock-secrets/"));

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-notify-examples-"));
  for (const [, name = ""] of page.matchAll(/\/etc\/interlock-secrets\/([\w-]+)/g)) {
    writeFileSync(
      join(directory, name),
      name.endsWith("url") ? "https://example.com/hook\n" : "a-secret-of-a-service\n",
    );
  }
});

afterAll(() => rmSync(directory, { recursive: true }));

it.each([
  "slackToken",
  "slackUrl",
  "mattermostUrl",
  "teamsUrl",
  "pagerdutyRoutingKey",
  "opsgenieApiKey",
  "smtpPassword",
])("docs/notify.md has an example for notify.%sFile", (setting) => {
  expect(withSecrets.filter((text) => text.includes(`${setting}File:`))).toHaveLength(1);
});

it.each(withSecrets)(
  "an example of docs/notify.md starts, and configures every channel that it routes to:\n%s",
  async (text) => {
    await using world = await NotifierWorld.start();
    const yaml = { path: "interlock.yaml", text: text.replaceAll("/etc/interlock-secrets", directory) };

    await world.startConfigured({ env: {}, yaml });

    expect(await world.everything()).not.toContain("route to unknown channel");
  },
);
