import { beforeEach, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { TestCli } from "../../test/doubles/test-cli.ts";
import { type TestCluster, testCluster } from "../../test/doubles/test-cluster.ts";
import { installCrds } from "../resources/index.ts";
import { systemRandom } from "../time/index.ts";
import { errorStatus } from "./to-command-error.ts";

let cluster: TestCluster;
let cli: TestCli;
beforeEach(async () => {
  const clock = new ManualClock();
  cluster = testCluster({ clock, random: systemRandom(), namespaces: ["kubernaut-system"] });
  await installCrds(cluster.client());
  cli = new TestCli(cluster.client(), { clock });
});

it.each([
  ["a wrong value", 2, ["pause", "all", "--for", "soon", "--reason", "x"], "; see interlock help pause"],
  ["wrong words", 2, ["resume", "namespace", "--reason", "x"], "missing argument: all | namespace NS"],
  ["a missing object", 1, ["ack", "nothing", "--reason", "x"], "; see: interlock get executions"],
  [
    "a state that does not allow it",
    1,
    ["resume", "all", "--reason", "x"],
    'no active pause has exactly the scope "all automation"; nothing is paused',
  ],
])("an operation with %s has exit status %i", async (_, status, words, text) => {
  const error = await cli.run(...words).catch((error: unknown) => error);

  expect(String(error)).toContain(text);
  expect(errorStatus(error)).toBe(status);
});

it("an operation without the right has exit status 5, also in a dry run", async () => {
  cluster.forbid("create", "automationpauses");

  for (const more of [[], ["--dry-run"]]) {
    const error = await cli.run("pause", "all", "--reason", "x", ...more).catch((error: unknown) => error);
    expect(errorStatus(error)).toBe(5);
  }
});

it("an operation on several objects continues after one has failed", async () => {
  await cli.run("pause", "all", "--reason", "x");
  const [, name = ""] = /interlock resume (\S+)/.exec(cli.read()) ?? [];

  expect(await cli.run("resume", "pause-1", name, "--reason", "x")).toBe(1);

  expect(cli.errors.join()).toContain("no active pause pause-1");
  expect(cli.read()).toBe(`${name} has ended, which covered all automation`);
});
