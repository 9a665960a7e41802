import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kubeconfigFor } from "../../src/apiserver/index.ts";
import { noProgress } from "../../src/cli/output/progress.ts";
import { interlock } from "../../src/cli/program.ts";
import { withServerContext } from "../../src/cli/server-context.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";

describe("a command, when Interlock does not run,", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "interlock-off-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("prints how to start it if it never ran", async () => {
    await expect(type("get", "incidents")).rejects.toThrow(
      `kubeconfig ${directory}/kubeconfig does not exist; start Interlock (npm start`,
    );
  });

  it("prints how to start it if it ran before", async () => {
    const kubeconfig = kubeconfigFor({ url: "https://127.0.0.1:1", token: "a-token" });
    await writeFile(join(directory, "kubeconfig"), kubeconfig);

    await expect(type("get", "incidents")).rejects.toThrow(
      /127\.0\.0\.1:1\n {2}Is Interlock running\? Start it with npm start/,
    );
  });

  it("prints how to choose another kubeconfig if this one cannot be used", async () => {
    await writeFile(join(directory, "kubeconfig"), "clusters: [");

    await expect(type("get", "incidents")).rejects.toThrow(
      /is not valid YAML at line 1\n {2}Name another file with --kubeconfig/,
    );
  });

  async function type(...words: readonly string[]) {
    const context = {
      clock: systemClock(),
      random: systemRandom(),
      env: {},
      terminal: {
        print: () => {},
        printError: () => {},
        printOutput: () => {},
        progress: noProgress,
        user: "operator",
      },
    };
    return interlock([...words, "--data", directory], {
      withCommandContext: (_options, work) => work(context),
      withServerContext: (options, work) => withServerContext(options, context, work),
    });
  }
});
