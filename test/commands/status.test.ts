import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { until } from "../executor/processes/until.ts";
import { type ApiServer, startApiServer } from "../services/api-server.ts";
import { dieWithUs, end, waitForOutput } from "../services/child.ts";
import { interlock, plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";
import { UpProcess } from "../services/up-process.ts";

const heartbeat = { interval: "200ms" };

describe("interlock status beside interlock up", { timeout: 60_000 }, () => {
  let up: UpProcess;
  beforeAll(async () => {
    up = await UpProcess.start({ clean: "echo cleaned" }, { settings: { heartbeat } });
  });
  afterAll(() => up.stop());

  it("prints ten lines when everything is healthy, with exit status 0", async () => {
    const { out, status } = await up.interlock("status");

    expect(status, out).toBe(0);
    expect(out.trimEnd().split("\n")).toHaveLength(10);
    expect(out).toMatch(/^healthy\nstages +gateway, orchestrator, executor, notify, console\nincidents +none open\n/);
  });

  it("prints JSON for programs", async () => {
    const { out } = await up.interlock("status", "-o", "json");

    expect(JSON.parse(out)).toMatchObject({
      isHealthy: true,
      problems: [],
      stages: expect.arrayContaining([expect.objectContaining({ name: "executor", isAlive: true, isReady: true })]),
    });
  });

  it("reports a rule file that cannot be read until it is corrected, with exit status 1", async () => {
    const file = join(up.directory, "rules", "broken.yaml");
    writeFileSync(file, "rules: [{ name: x, workflow: clean, when: 1 }]");

    await until("the problem is reported", async () => {
      const { out, status } = await up.interlock("status");
      return status === 1 && /^problem: .*broken\.yaml.*\n {2}next: .*interlock policy test/m.test(out);
    });

    rmSync(file);
    await until("healthy again", async () => (await up.interlock("status")).status === 0);
  });

  it("reports a rule file that the operating system does not let it read", async () => {
    const file = join(up.directory, "rules", "dangling.yaml");
    symlinkSync("nowhere.yaml", file);

    await until("the problem is reported", async () => /problem: .*dangling/.test((await up.interlock("status")).out));

    rmSync(file);
    await until("healthy again", async () => (await up.interlock("status")).status === 0);
  });

  it("reports a workflow file that cannot be read", async () => {
    const file = join(up.directory, "workflows", "clean", "workflow.yaml");
    writeFileSync(file, "workflowId: [");

    await until("the problem is reported", async () =>
      /problem: .*workflow\.yaml/.test((await up.interlock("status")).out),
    );
  });

  it("is one error if the server refuses the credentials, with exit status 5", async () => {
    const { out, err, status } = await up.interlock(
      "status",
      "--kubeconfig",
      kubeconfigWith("user", { token: "wrong" }),
    );

    expect(out).toBe("");
    expect(err).toMatch(/^error: cannot list .*: Unauthorized\n {2}Ask for this right, or choose other credentials/);
    expect(status).toBe(5);
  });

  it("is one error if the kubeconfig lacks the certificate of the server", async () => {
    const file = kubeconfigWith("cluster", { "certificate-authority-data": undefined });

    const { err, status } = await up.interlock("status", "--kubeconfig", file);

    expect(err).toContain("The kubeconfig does not have the certificate of this server; name its own");
    expect(status).toBe(4);
  });

  /** The kubeconfig of `up` with another user or cluster. */
  function kubeconfigWith(part: "user" | "cluster", given: object): string {
    const text = readFileSync(join(up.dataDir, "kubeconfig"), "utf8");
    const file = join(up.directory, `kubeconfig-${part}`);
    writeFileSync(file, JSON.stringify(JSON.parse(text, (key, value) => (key === part ? merge(value, given) : value))));
    return file;
  }

  it("mentions refused signals, and a pause with the command that ends it", async () => {
    await up.interlock("pause", "all", "--reason", "release 4");
    const { err } = await up.interlock("receive", "generic", "-p", unreadable(up.directory));
    expect(err).toBe("");

    const out = await until("both are mentioned", async () => {
      const { out } = await up.interlock("status");
      return /note: 1 request|note: 1 signal/.test(out) ? out : undefined;
    });

    expect(out).toMatch(
      /note: automation is paused \(everything\) until it is resumed: release 4\n {2}next: interlock resume /,
    );
  });
});

describe("interlock status beside a stage of its own process", { timeout: 60_000 }, () => {
  let server: ApiServer;
  let directory: string;
  let executor: ChildProcess;

  beforeAll(async () => {
    server = await startApiServer();
    directory = mkdtempSync(join(tmpdir(), "interlock-status-"));
    const config = join(directory, "config.yaml");
    writeFileSync(config, stringify({ heartbeat, execution: { workflowsDir: join(directory, "workflows") } }));
    executor = await startExecutor(config);
  });
  afterAll(async () => {
    await end(executor, "SIGKILL");
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  it("reports an executor that hangs, that continues, that is killed and that ends on request", async () => {
    await until("the executor runs", async () => (await missing()) === undefined);

    executor.kill("SIGSTOP");
    await until("it hangs", async () => /last heartbeat, of .*, is \S+ old/.test((await missing()) ?? ""));
    executor.kill("SIGCONT");
    await until("it continues", async () => (await missing()) === undefined);
    await end(executor, "SIGKILL");
    await until("it is gone", async () => /last heartbeat, of .*, is \S+ old/.test((await missing()) ?? ""));
    executor = await startExecutor(join(directory, "config.yaml"));
    expect(await missing()).toBeUndefined();
    await end(executor, "SIGTERM");

    expect(await missing()).toBe("no executor is running");
  });

  async function missing(): Promise<string | undefined> {
    const { out, err } = await interlock(["status", "--kubeconfig", server.kubeconfigFile, "-o", "json"]);
    if (out === "") throw new Error(err);
    const { problems } = JSON.parse(out) as { problems: readonly { readonly message: string }[] };
    return problems.map(({ message }) => message).find((message) => message.startsWith("no executor"));
  }

  async function startExecutor(config: string): Promise<ChildProcess> {
    const args = ["executor", "--kubeconfig", server.kubeconfigFile, "--config", config, "--data", directory];
    const child = spawn(process.execPath, [await interlockProgram(), ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: plainEnv,
    });
    dieWithUs(child);
    await waitForOutput(child, /executor ready/);
    return child;
  }
});

/** A payload whose signal is invalid. */
function unreadable(directory: string): string {
  const file = join(directory, "invalid.json");
  writeFileSync(file, JSON.stringify({ name: "A", target: "no-such-kind/x" }));
  return file;
}

/** A context names its user and cluster by a text. */
function merge(value: unknown, given: object): unknown {
  return typeof value === "object" ? { ...value, ...given } : value;
}
