import { join } from "node:path";
import { type CoderOrder, type CoderRequest, gitWorkshop } from "../../../src/agent/index.ts";
import { silentLogger } from "../../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { Repository } from "../../doubles/gitlab/repository.ts";
import { writeRepository } from "../../doubles/gitlab/repository-template.ts";

/** A repository on this machine, a workshop for it, and what a coder is asked about it. */
export async function makeRepository(directory: string, files: Readonly<Record<string, string>>) {
  const origin = join(directory, "origin");
  await writeRepository(origin, "main", "/dev/null");
  const author = { name: "t", email: "t@e.com" };
  const first = { branch: "main", from: undefined, files, message: "first", author, atMs: 1_800_000_000_000 };
  const [sha = ""] = await new Repository(origin).addAll([first]);
  const workshop = await gitWorkshop({
    directory: join(directory, "workshop"),
    server: { origin: "file://", token: async () => "unused-token" },
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
