import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { expect, it } from "vitest";
import { openClient } from "../../src/app/index.ts";
import { type AutomationPause, automationPauses, installCrds } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { startApiServer } from "../services/api-server.ts";
import { dieWithUs } from "../services/child.ts";
import { plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";

it("a command fails if its output cannot be written", async () => {
  const fullDisk = openSync("/dev/full", "w");
  const args = [await interlockProgram(), "manifests"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", fullDisk, "pipe"], env: plainEnv });
  closeSync(fullDisk);
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });

  expect(await once(child, "close")).toEqual([1, null]);
  expect(errors).toBe("error: the output cannot be written (ENOSPC), and is not complete; write it elsewhere\n");
});

it("get --watch ends when the reader of its output has gone", async () => {
  await using api = await startApiServer();
  const [clock, random] = [systemClock(), systemRandom()];
  const client = await openClient(api.kubeconfigFile, { env: process.env, clock, random });
  await installCrds(client);
  await client.create(automationPauses, pause("before"));
  const args = [await interlockProgram(), "get", "pauses", "-w", "--kubeconfig", api.kubeconfigFile];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env: plainEnv });
  dieWithUs(child);
  const ended = once(child, "exit");
  await once(child.stdout, "data");

  child.stdout.destroy();
  await client.create(automationPauses, pause("after"));

  expect(await ended).toEqual([130, null]);
}, 60_000);

function pause(name: string): AutomationPause {
  const { apiVersion, kind } = automationPauses;
  const spec = { scope: "All", reason: "release", requestedBy: "kim" } as const;
  return { apiVersion, kind, metadata: { name, namespace: "default" }, spec };
}
