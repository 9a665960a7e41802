import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type CoderOrder, type CoderRequest, gitWorkshop } from "../../../src/agent/index.ts";
import { silentLogger } from "../../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";

const run = promisify(execFile);

/** A repository on this machine, a workshop for it, and what a coder is asked about it. */
export async function makeRepository(directory: string, files: Readonly<Record<string, string>>) {
  const origin = join(directory, "origin");
  const git = (...args: string[]) =>
    run("git", ["-C", origin, "-c", "user.name=t", "-c", "user.email=t@e.com", ...args]);
  await mkdir(origin, { recursive: true });
  await git("init", "-q", "--initial-branch=main");
  await git("config", "uploadpack.allowAnySHA1InWant", "true");
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(origin, name)), { recursive: true });
    await writeFile(join(origin, name), content);
  }
  await git("add", "-A");
  await git("commit", "-qm", "first", "--allow-empty");
  const sha = (await git("rev-parse", "HEAD")).stdout.trim();
  const workshop = await gitWorkshop({
    directory: join(directory, "workshop"),
    server: { origin: "file://", token: () => "unused-token" },
    timeLimitMs: 30_000,
    env: { PATH: process.env["PATH"] },
    clock: systemClock(),
    random: systemRandom(),
    log: silentLogger,
  });
  const order = (request: Partial<CoderRequest> = {}): CoderOrder => ({
    taskUid: "7b3c",
    request: {
      version: 1,
      kind: "edit",
      project: { path: "group/app", url: "https://gitlab.example/group/app" },
      instruction: "add a line",
      ...request,
    } as CoderRequest,
    repository: { projectId: 1, cloneUrl: `file://${origin}` },
    sha,
    ref: "refs/heads/main",
  });
  return { workshop, order };
}
