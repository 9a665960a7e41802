import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openClient } from "../../src/app/index.ts";
import { type AutomationPause, automationPauses, installCrds } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { until } from "../executor/processes/until.ts";
import { startApiServer } from "../services/api-server.ts";
import { plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";

it("get --watch continues when the API server comes back after a kill, and ends with Ctrl-C", async () => {
  const directory = await mkdtemp(join(tmpdir(), "interlock-watch-"));
  const program = await interlockProgram();
  await using api = await startApiServer();
  const client = await openClient(api.kubeconfigFile, {
    env: process.env,
    clock: systemClock(),
    random: systemRandom(),
  });
  await installCrds(client);
  await client.create(automationPauses, pause("before"));
  const args = [program, "get", "pauses", "-w", "--kubeconfig", api.kubeconfigFile];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: plainEnv });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await until("it shows what there is", () => printed.includes("before "));

  await api.kill();
  await until("it says what is wrong", () => errors.includes("still watching"));
  await api.start();
  await client.create(automationPauses, pause("after"));
  await until("it shows what is new", () => printed.includes("after "));

  const exited = once(child, "exit");
  child.kill("SIGINT");
  expect(await exited).toEqual([130, null]);
  expect(printed.match(/^before /gm)).toHaveLength(1);
  await rm(directory, { recursive: true, force: true });
}, 60_000);

function pause(name: string): AutomationPause {
  const { apiVersion, kind } = automationPauses;
  const spec = { scope: "All", reason: "release", requestedBy: "kim" } as const;
  return { apiVersion, kind, metadata: { name, namespace: "default" }, spec };
}
