import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { openClient } from "../../src/app/index.ts";
import { namespaces } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { defineClusterKinds } from "../doubles/cluster-kinds.ts";
import { type ApiServer, startApiServer } from "../services/api-server.ts";
import { interlockProgram } from "../services/program.ts";
import { escaped } from "./escaped.ts";

// In a real cluster without Interlock, and the guide leaves it so: TEST_KUBECONFIG=FILE npm test -- cluster-guide
const { TEST_KUBECONFIG: given } = process.env;

/** A fenced block: a command, and the output that follows it. */
interface Block {
  readonly language: string;
  readonly text: string;
}

const [guide = ""] = readFileSync("docs/cluster.md", "utf8").split("\n## Reference\n");
const blocks = [...guide.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
  ([, language = "", text = ""]): Block => ({ language, text }),
);
const steps = blocks.flatMap(({ language, text }, i) => {
  const next = blocks[i + 1];
  return language === "sh" ? [{ commands: text, shown: next?.language === "" ? next.text : undefined }] : [];
});

describe(`the guide to a cluster, on ${given ? "the cluster of TEST_KUBECONFIG" : "interlock api"}`, () => {
  let server: ApiServer | undefined;
  let kubeconfig: string;
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "interlock-guide-"));
    server = given ? undefined : await startApiServer();
    kubeconfig = given ?? (server as ApiServer).kubeconfigFile;
    const client = await openClient(kubeconfig, { env: process.env, clock: systemClock(), random: systemRandom() });
    if (!given) await defineClusterKinds(client);
    writeFileSync(
      join(directory, "interlock"),
      `#!/bin/sh\nexec "${process.execPath}" "${await interlockProgram()}" "$@"\n`,
    );
    chmodSync(join(directory, "interlock"), 0o755);
    if (!given) return;
    const isInstalled = await client.get(namespaces, { name: "kubernaut-system" });
    if (isInstalled) throw new Error("the cluster has a namespace kubernaut-system, which the guide would delete");
    // Other suites leave definitions. Without any, the cluster has nothing to delete.
    expect((await sh("interlock uninstall --purge --yes")).output).toMatch(/ deleted$|no installation/m);
  });

  afterAll(async () => {
    await server?.stop();
    rmSync(directory, { recursive: true });
  });

  it("has commands, and every one of them shows its output", () => {
    expect(steps.length).toBeGreaterThan(12);
    expect(steps.filter(({ shown }) => shown === undefined)).toEqual([]);
  });

  it.each(steps.map((step) => [step.commands.split("\n", 1)[0], step] as const))(
    "runs %s",
    async (_first, step) => {
      const printed = await sh(step.commands);

      expect(printed).toMatchObject({ status: 0 });
      expect(`${printed.output.trimEnd()}\n`).toMatch(outputPattern(step.shown ?? ""));
    },
    60_000,
  );

  it("shows an Alertmanager configuration with the path and port of the gateway", () => {
    const [configuration] = blocks.filter(({ language }) => language === "yaml");

    const { receivers } = parse(configuration?.text ?? "") as { receivers: { webhook_configs: { url: string }[] }[] };
    expect(receivers[0]?.webhook_configs[0]?.url).toBe(
      "http://interlock-gateway.kubernaut-system:8080/api/v1/signals/alertmanager",
    );
  });

  function sh(commands: string): Promise<{ status: number | null; output: string }> {
    const env = { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory, KUBECONFIG: kubeconfig };
    const child = spawn("sh", ["-euc", commands], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    return new Promise((resolve) => child.once("close", (status) => resolve({ status, output })));
  }
});

/** Whole lines in order; a line `…` stands for any number of lines, and `…` in a line for any text. */
function outputPattern(shown: string): RegExp {
  const lines = shown.trimEnd().split("\n");
  const patterns = lines.map((line) => (line === "…" ? "(?:.*\\n)*" : `${escaped(line).replaceAll("…", ".*")}\\n`));
  return new RegExp(`^${patterns.join("")}$`);
}
