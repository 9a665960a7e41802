import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { basicCredentials, type Call, type Reply } from "../web/call.ts";
import type { Found } from "../web/router.ts";
import { gitEnvironment } from "./git.ts";
import { developer, levelOf, maintainer, type Project, type Scope, type User } from "./model.ts";
import { type RefChange, received } from "./pushes.ts";
import type { World } from "./world.ts";

const gitPath = /^\/(.+)\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/;

/** Git's own HTTP service in front of the repositories, as GitLab guards it. */
export function gitHttp(world: World): (method: string, path: string) => Found {
  return (method, path) => {
    const [, project, service] = gitPath.exec(path) ?? [];
    if (project === undefined || service === undefined) return { kind: "nothing" };
    const params = { project: decodeURIComponent(project), service };
    const handler = (call: Call) => serve(world, call);
    return { kind: "route", params, route: { method, template: `/:project.git/${service}`, handler } };
  };
}

async function serve(world: World, call: Call): Promise<Reply> {
  const { project: path = "", service = "" } = call.params;
  const isPush = service === "git-receive-pack" || call.query.get("service") === "git-receive-pack";
  const token = world.tokens.get(basicCredentials(call)?.password ?? "");
  if (!token || token.isRevoked) return unauthorized;
  const project = world.project(path);
  if (!project) return notFound;

  const level = levelOf(project, token.user);
  if (level === 0 && project.visibility === "private") return notFound;
  if (!mayClone.includes(token.scope)) return forbidden;
  if (isPush && (!mayPush.includes(token.scope) || level < developer)) return forbidden;
  return isPush ? push(world, project, token.user, call) : runBackend(world, project, { call, env: {} });
}

const mayClone: readonly Scope[] = ["api", "read_repository", "write_repository"];
const mayPush: readonly Scope[] = ["api", "write_repository"];
const text = { "Content-Type": "text/plain" };
const notFound: Reply = {
  status: 404,
  headers: text,
  body: "The project you were looking for could not be found or you don't have permission to view it.\n",
};
const forbidden: Reply = { status: 403, headers: text, body: "You are not allowed to do this with this project.\n" };
const unauthorized: Reply = {
  status: 401,
  headers: { ...text, "WWW-Authenticate": 'Basic realm="GitLab"' },
  body: "HTTP Basic: Access denied\n",
};

/** Answers only once everything that follows from the push has followed. */
async function push(world: World, project: Project, user: User, call: Call): Promise<Reply> {
  const report = join(world.root, `pushed-${randomUUID()}`);
  const guarded = [...project.protectedBranches].map((branch) => `refs/heads/${branch}`).join(" ");
  const env = {
    REMOTE_USER: user.username,
    DOUBLE_REPORT: report,
    DOUBLE_GUARDED: guarded,
    DOUBLE_IS_MAINTAINER: levelOf(project, user) >= maintainer ? "yes" : "",
    DOUBLE_CUSTOM_REFS: world.settings.acceptsCustomRefs ? "yes" : "",
    DOUBLE_REFUSAL: world.settings.pushRefusal,
  };
  const reply = await runBackend(world, project, { call, env });
  await received(world, project, user, await changesIn(report));
  return reply;
}

async function changesIn(report: string): Promise<RefChange[]> {
  const lines = await readFile(report, "utf8").catch(() => "");
  await rm(report, { force: true });
  const changes = lines.split("\n").filter(Boolean);
  return changes.map((line) => {
    const [old = "", now = "", ref = ""] = line.split(" ");
    return { ref, old, new: now };
  });
}

function runBackend(
  world: World,
  project: Project,
  { call, env }: { call: Call; env: Record<string, string> },
): Promise<Reply> {
  const header = (name: string) => String(call.headers[name] ?? "");
  const child = spawn("git", ["http-backend"], {
    env: {
      ...gitEnvironment(),
      GIT_PROJECT_ROOT: world.root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: `/${project.path}.git/${call.params["service"]}`,
      QUERY_STRING: call.query.toString(),
      REQUEST_METHOD: call.method,
      CONTENT_TYPE: header("content-type"),
      CONTENT_LENGTH: String(call.body.length),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
      ...env,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    const out: Buffer[] = [];
    child.stdout.on("data", (chunk) => out.push(chunk));
    child.on("error", reject);
    child.on("close", () => resolve(cgiReply(Buffer.concat(out))));
    child.stdin.on("error", () => {});
    child.stdin.end(call.body);
  });
}

function cgiReply(out: Buffer): Reply {
  const end = out.indexOf("\r\n\r\n");
  if (end < 0) return { status: 500, headers: text, body: "git http-backend printed nothing\n" };
  const headers: Record<string, string> = {};
  for (const line of out.subarray(0, end).toString().split("\r\n")) {
    const [name = "", ...value] = line.split(": ");
    headers[name] = value.join(": ");
  }
  const { Status: status, ...rest } = headers;
  return { status: Number.parseInt(status ?? "200", 10), headers: rest, body: out.subarray(end + 4) };
}
