import { createHash } from "node:crypto";
import { Refusal } from "../../web/call.ts";
import type { Route } from "../../web/router.ts";
import { developer, maintainer } from "../model.ts";
import { deleteBranch, makeBranch, pushFiles } from "../pushes.ts";
import type { FileChanges } from "../repository.ts";
import { commitView, diffView } from "../views.ts";
import type { World } from "../world.ts";
import { demand, forbidden, inProject, missing, type ProjectVisit, page } from "./desk.ts";
import { invalid } from "./input.ts";

/** Branches, files, commits and comparisons: all of them from the repository itself. */
export function repository(world: World): Route[] {
  return [
    inProject("GET", "/repository/branches", world, async (visit) => {
      const views = await Promise.all([...visit.project.branches.keys()].map((name) => branchView(visit, name)));
      return page(visit, views, (view) => view);
    }),
    inProject("POST", "/repository/branches", world, createBranch),
    inProject("GET", "/repository/branches/:branch", world, async (visit) => ({
      status: 200,
      body: await branchView(visit, visit.call.params["branch"] ?? ""),
    })),
    inProject("DELETE", "/repository/branches/:branch", world, removeBranch),
    inProject("POST", "/repository/commits", world, createCommit),
    inProject("GET", "/repository/commits/:sha", world, showCommit),
    inProject("GET", "/repository/files/:path", world, showFile),
    inProject("GET", "/repository/files/:path/raw", world, async (visit) => ({
      status: 200,
      headers: { "Content-Type": "text/plain" },
      body: (await fileOf(visit)).bytes,
    })),
    inProject("GET", "/repository/compare", world, compare),
  ];
}

async function branchView({ project, world }: ProjectVisit, name: string) {
  const sha = project.branches.get(name);
  if (sha === undefined) throw missing("Branch");
  return {
    name,
    commit: commitView(await project.repository.commit(sha), project, world.time),
    merged: false,
    protected: project.protectedBranches.has(name),
    default: name === project.defaultBranch,
    web_url: `${project.webUrl}/-/tree/${name}`,
  };
}

async function createBranch(visit: ProjectVisit) {
  const { project, input, world, user } = visit;
  const [branch, ref] = [input.required("branch"), input.required("ref")];
  demand(visit, developer);
  if (project.branches.has(branch)) throw new Refusal(400, { message: "Branch already exists" });
  const sha = await project.repository.resolve(ref);
  if (sha === undefined) throw new Refusal(400, { message: `Invalid reference name: ${ref}` });
  await makeBranch(world, project, user, { branch, sha });
  return { status: 201, body: await branchView(visit, branch) };
}

async function removeBranch(visit: ProjectVisit) {
  const { project, world, user, call } = visit;
  const branch = call.params["branch"] ?? "";
  demand(visit, developer);
  if (!project.branches.has(branch)) throw missing("Branch");
  if (project.protectedBranches.has(branch) && visit.level < maintainer) throw forbidden();
  await deleteBranch(world, project, user, branch);
  return { status: 204 };
}

async function createCommit(visit: ProjectVisit) {
  const { project, input, world, user } = visit;
  const [branch, message] = [input.required("branch"), input.required("commit_message")];
  const actions = input.values["actions"];
  if (!Array.isArray(actions)) throw invalid("actions is missing");
  demand(visit, developer);
  if (project.protectedBranches.has(branch) && visit.level < maintainer) throw forbidden();
  const start = input.text("start_branch") ?? input.text("start_sha");
  if (!project.branches.has(branch) && start === undefined) {
    throw new Refusal(400, { message: "You can only create or edit files when you are on a branch" });
  }
  const files = Object.fromEntries(actions.map((action) => fileChange(action as Record<string, string>)));
  const from = start !== undefined && { from: start };
  const sha = await pushFiles(world, project, user, { branch, files, message, ...from });
  return { status: 201, body: commitView(await project.repository.commit(sha), project, world.time) };
}

function fileChange(action: Record<string, string>): [string, FileChanges[string]] {
  const path = action["file_path"] ?? "";
  if (action["action"] === "delete") return [path, { delete: true }];
  if (action["action"] === "move") return [action["previous_path"] ?? "", { renameTo: path }];
  const isCoded = action["encoding"] === "base64";
  return [path, Buffer.from(action["content"] ?? "", isCoded ? "base64" : "utf8")];
}

async function showCommit({ project, call, world }: ProjectVisit) {
  const sha = await project.repository.resolve(call.params["sha"] ?? "");
  if (sha === undefined) throw missing("Commit");
  return { status: 200, body: commitView(await project.repository.commit(sha), project, world.time) };
}

async function showFile(visit: ProjectVisit) {
  const { bytes, path, ref, sha } = await fileOf(visit);
  return {
    status: 200,
    body: {
      file_name: path.split("/").at(-1),
      file_path: path,
      size: bytes.length,
      encoding: "base64",
      content: bytes.toString("base64"),
      content_sha256: createHash("sha256").update(bytes).digest("hex"),
      ref,
      commit_id: sha,
    },
  };
}

async function fileOf({ project, call, input }: ProjectVisit) {
  const path = call.params["path"] ?? "";
  const ref = input.text("ref") ?? project.defaultBranch;
  const sha = await project.repository.resolve(ref);
  if (sha === undefined) throw missing("Commit");
  const bytes = await project.repository.file(sha, path);
  if (!bytes) throw missing("File");
  return { bytes, path, ref, sha };
}

async function compare({ project, input, world }: ProjectVisit) {
  const [from, to] = await Promise.all(
    [input.required("from"), input.required("to")].map((name) => project.repository.resolve(name)),
  );
  if (from === undefined || to === undefined) throw missing("Ref");
  const isStraight = input.flag("straight") ?? false;
  const base = isStraight ? from : await project.repository.mergeBase(from, to);
  if (base === undefined) throw missing("Compare");
  const commits = (await project.repository.log(`${from}..${to}`)).toReversed();
  const files = await project.repository.diff(base, to);
  const views = commits.map((commit) => commitView(commit, project, world.time));
  return {
    status: 200,
    body: {
      commit: views.at(-1) ?? null,
      commits: views,
      diffs: files.map((file) => diffView(file, world.settings)),
      compare_timeout: false,
      compare_same_ref: from === to,
      web_url: `${project.webUrl}/-/compare/${from}...${to}`,
    },
  };
}
