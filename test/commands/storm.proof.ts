import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainEnv } from "../services/interlock.ts";
import { UpProcess } from "../services/up-process.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const script = join(root, "scripts/demo-storm.ts");
const outcome = { incidents: 13, runs: 1, followers: 12, skips: {}, notices: 2 };
const asPromised = { alertmanager: { signals: 52, ...outcome }, events: { signals: 39, ...outcome } };

describe("npm run demo:storm", { timeout: 120_000 }, () => {
  let up: UpProcess;
  beforeAll(async () => {
    const settings = { execution: { workflowsDir: join(root, "workflows") }, rules: { dir: join(root, "rules") } };
    up = await UpProcess.start({}, { settings });
  });
  afterAll(() => up.stop());

  it("starts an Interlock of its own where none runs: thirteen evictions are one run and two notices, by alerts and by Events", async () => {
    const { status, out } = await storm(join(up.directory, "nowhere"));

    expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toMatchObject(asPromised);
    expect(status).toBe(0);
  });

  it("plays at the one that runs, again and again, and what it prints as next step works", async () => {
    await storm(up.dataDir);
    const { status, out } = await storm(up.dataDir);

    expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toMatchObject(asPromised);
    expect(status).toBe(0);
    const [, incident = ""] = /interlock why (\S+)/.exec(out) ?? [];
    expect((await up.interlock("why", incident)).out).toMatch(/follows +\S+ completed in/);
  });
});

function storm(data: string): Promise<{ status: number; out: string }> {
  const env = { ...plainEnv, INTERLOCK_DATA: data };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--import", "tsx", script, "--json"], { env }, (error, out, err) => {
      resolve({ status: error ? Number(error.code ?? -1) : 0, out: out + err });
    });
  });
}
