import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UpProcess } from "../services/up-process.ts";

describe("interlock up", { timeout: 60_000 }, () => {
  let up: UpProcess;
  beforeAll(async () => {
    up = await UpProcess.start({ clean: "echo cleaned" });
  });
  afterAll(() => up.stop());

  const gatewayUrl = () => /gateway +(http:\S+)/.exec(up.screen)?.[1] ?? "";

  async function post(body: object): Promise<{ status: number; text: string }> {
    const [, token = ""] = /^local (\S+)$/m.exec(readFileSync(join(up.dataDir, "gateway-tokens"), "utf8")) ?? [];
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${gatewayUrl()}/api/v1/signals`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  }

  it("accepts signals about objects without labels", async () => {
    const { status } = await post({ name: "Unmatched", target: "node/worker-9" });

    expect(status).toBe(201);
    const { out } = await up.interlock("get", "incidents");
    expect(out).toContain("Unmatched");
  });

  it("prints next commands that work as they are, in a shell of the same folder", async () => {
    const [, lines = ""] = /Next, in a second terminal:\n\n(.+)/s.exec(up.screen) ?? [];
    const script = `shopt -s expand_aliases\nset -e\n${lines}`;

    const { stdout } = await promisify(execFile)("bash", ["-c", script]);

    expect(stdout).toMatch(/^created rr-\S+: Incident opened\.\n/);
  });

  it("serves the metrics of all its stages, without a token and without names of targets", async () => {
    const answer = await fetch(`${gatewayUrl()}/metrics`);

    const text = await answer.text();
    expect(answer.headers.get("content-type")).toContain("text/plain");
    for (const metric of ["gateway_", "workflowexecution_", "ledger_"]) expect(text).toContain(`\n${metric}`);
    expect(text).not.toContain("worker-9");
  });

  it.each([
    ["text", 200, "<html>"],
    ["other JSON", 200, "null"],
    ["a problem, as the console does,", 404, '{"title":"Not Found"}'],
  ])("is not confused with a server that responds with %s", async (_name, status, body) => {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    const { err } = await up.interlock(
      "receive",
      "alertmanager",
      "-p",
      "examples/node-disk-pressure.json",
      "--gateway",
      url,
    );

    expect(err).toBe(`error: ${url} is not a gateway (HTTP ${status}); name the URL of one with --gateway\n`);
    server.close();
  });

  it.each(["127.0.0.1:8080", "ftp://127.0.0.1"])("is not called at %s, which is no URL of HTTP", async (url) => {
    const { err, status } = await up.interlock("receive", "generic", "-p", "package.json", "--gateway", url);

    expect(err).toContain("error: --gateway needs a URL such as http://127.0.0.1:8080, got");
    expect(status).toBe(2);
  });

  it("prints the address in use and the setting to change, and exits", async () => {
    const config = join(up.directory, "taken.yaml");
    writeFileSync(config, `gateway:\n  listen: ${new URL(gatewayUrl()).host}\n`);

    const other = join(up.directory, "other");
    const { status, err } = await up.bare("up", "--data", other, "--listen", "127.0.0.1:0", "--config", config);

    expect(status).toBe(1);
    expect(err).toContain("is in use by another process");
    expect(err).toContain("gateway.listen");
  });

  it("opens incidents only for labelled objects if configured", async () => {
    const labelled = await UpProcess.start({ clean: "echo cleaned" }, { settings: { gateway: { scope: "labels" } } });
    try {
      const payload = join(labelled.directory, "alert.json");
      writeFileSync(payload, JSON.stringify({ name: "Full", target: "node/worker-1" }));

      const { out } = await labelled.interlock("receive", "generic", "-p", payload);

      expect(out).toContain("No incident opened: no such node: node/worker-1 does not exist");
    } finally {
      await labelled.stop();
    }
  });

  it("logs by log.level and log.format, and only problems by default", async () => {
    const settings = { log: { level: "info", format: "json" } };
    const talkative = await UpProcess.start({ clean: "echo cleaned" }, { settings });
    try {
      expect(talkative.screen).toMatch(/^\{"level":"info".*\}$/m);
      expect(up.screen).not.toMatch(/info|^\{/m);
    } finally {
      await talkative.stop();
    }
  });

  it("serves the metrics of a separate executor at metrics.listen", async () => {
    const config = join(up.directory, "executor.yaml");
    writeFileSync(config, "execution:\n  engines: job\n  engine: job\nmetrics:\n  listen: 127.0.0.1:0\n");
    const args = ["--import", "tsx", "src/main.ts", "executor", "--config", config];
    const own = ["--kubeconfig", join(up.dataDir, "kubeconfig"), "--data", join(up.directory, "executor")];
    const child = spawn(process.execPath, [...args, ...own], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      let printed = "";
      for await (const chunk of child.stdout) {
        printed += String(chunk);
        if (printed.includes("executor ready")) break;
      }
      const { metrics } = JSON.parse(printed.split("\n").find((line) => line.includes("executor ready")) ?? "{}");

      expect(await (await fetch(metrics)).text()).toContain("\nworkflowexecution_");
      expect((await fetch(metrics.replace("/metrics", "/readyz"))).status).toBe(200);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });
});
