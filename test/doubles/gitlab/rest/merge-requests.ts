import { Refusal } from "../../web/call.ts";
import type { Route } from "../../web/router.ts";
import { baseOf, changeMergeRequest, mergeMergeRequest, openMergeRequest, openOneFor } from "../merge-requests.ts";
import { developer, headOf, isDraft, type MergeRequest } from "../model.ts";
import { mergeRequestView } from "../views.ts";
import type { World } from "../world.ts";
import {
  demand,
  forbidden,
  inMergeRequest,
  inProject,
  type MergeRequestVisit,
  missing,
  type ProjectVisit,
  page,
} from "./desk.ts";
import { type Input, invalid } from "./input.ts";

export function mergeRequests(world: World): Route[] {
  return [
    inProject("GET", "/merge_requests", world, list),
    inProject("POST", "/merge_requests", world, create),
    inMergeRequest("GET", "", world, async ({ mr }) => ({ status: 200, body: await detailed(world, mr) })),
    inMergeRequest("PUT", "", world, change),
    inMergeRequest("PUT", "/merge", world, merge),
  ];
}

function list(visit: ProjectVisit) {
  const { project, input, world } = visit;
  const found = project.mergeRequests.filter(filterOf(input));
  const key = input.oneOf("order_by", ["created_at", "updated_at", "title"], "created_at");
  const direction = input.oneOf("sort", ["asc", "desc"], "desc") === "asc" ? 1 : -1;
  const rank = (mr: MergeRequest) => ({ created_at: mr.createdMs, updated_at: mr.updatedMs, title: mr.title })[key];
  found.sort((one, other) => direction * (compare(rank(one), rank(other)) || one.id - other.id));
  return page(visit, found, (mr) => mergeRequestView(mr, world.time));
}

function compare(one: string | number, other: string | number): number {
  return one < other ? -1 : Number(one > other);
}

function filterOf(input: Input): (mr: MergeRequest) => boolean {
  const state = input.oneOf("state", ["all", "opened", "closed", "merged", "locked"], "all");
  const wip = input.oneOf("wip", ["yes", "no", ""], "");
  const [after, before] = [input.time("updated_after"), input.time("updated_before")];
  const [source, target] = [input.text("source_branch"), input.text("target_branch")];
  const [author, username] = [input.number("author_id"), input.text("author_username")];
  const labels = input.list("labels") ?? [];
  return (mr) =>
    (state === "all" || mr.state === state) &&
    (wip === "" || isDraft(mr) === (wip === "yes")) &&
    (after === undefined || mr.updatedMs >= after) &&
    (before === undefined || mr.updatedMs <= before) &&
    (source === undefined || mr.sourceBranch === source) &&
    (target === undefined || mr.targetBranch === target) &&
    (author === undefined || mr.author.id === author) &&
    (username === undefined || mr.author.username === username) &&
    labels.every((label) => mr.labels.includes(label));
}

async function create(visit: ProjectVisit) {
  const { project, input, world, user } = visit;
  const draft = {
    sourceBranch: input.required("source_branch"),
    targetBranch: input.required("target_branch"),
    title: input.required("title"),
    description: input.text("description") ?? "",
    labels: input.list("labels") ?? [],
    preparingReads: world.settings.preparingReads,
  };
  demand(visit, developer);
  const target = input.has("target_project_id") ? world.project(input.required("target_project_id")) : project;
  if (!target) throw missing("Project");
  checkTitle(draft.title);
  if (target === project && draft.sourceBranch === draft.targetBranch) {
    throw new Refusal(422, { message: ["You can't use same project/branch for source and target"] });
  }
  const other = openOneFor(target, project, draft.sourceBranch, draft.targetBranch);
  if (other) {
    const message = `Another open merge request already exists for this source branch: !${other.iid}`;
    throw new Refusal(409, { message: [message] });
  }
  const mr = await openMergeRequest(world, target, user, { ...draft, sourceProject: project });
  return { status: 201, body: await detailed(world, mr) };
}

async function change(visit: MergeRequestVisit) {
  const { mr, input, world, user } = visit;
  if (!input.has("title", "description", "state_event", "labels", "add_labels", "remove_labels", "target_branch")) {
    throw invalid(
      "title, description, state_event, labels, target_branch are missing, at least one parameter must be provided",
    );
  }
  if (mr.author !== user) demand(visit, developer);
  const [title, description, targetBranch] = ["title", "description", "target_branch"].map((name) => input.text(name));
  if (title !== undefined) checkTitle(title);
  const stateEvent = input.oneOf("state_event", ["close", "reopen", ""], "");
  if (stateEvent === "reopen") checkMayReopen(mr);
  const labels = labelsAfter(mr, input);
  await changeMergeRequest(world, mr, user, {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(targetBranch !== undefined && { targetBranch }),
    ...(labels && { labels }),
    ...(stateEvent !== "" && { stateEvent }),
  });
  return { status: 200, body: await detailed(world, mr) };
}

function labelsAfter(mr: MergeRequest, input: Input): string[] | undefined {
  if (!input.has("labels", "add_labels", "remove_labels")) return undefined;
  const gone = input.list("remove_labels") ?? [];
  const all = [...(input.list("labels") ?? mr.labels), ...(input.list("add_labels") ?? [])];
  return [...new Set(all)].filter((label) => !gone.includes(label));
}

function checkMayReopen(mr: MergeRequest): void {
  const other = openOneFor(mr.project, mr.sourceProject, mr.sourceBranch, mr.targetBranch);
  if (!other || other === mr) return;
  throw new Refusal(409, {
    message: [`Another open merge request already exists for this source branch: !${other.iid}`],
  });
}

function checkTitle(title: string): void {
  if (title.trim() === "") throw new Refusal(400, { message: { title: ["can't be blank"] } });
  if (title.length > 255) throw new Refusal(400, { message: { title: ["is too long (maximum is 255 characters)"] } });
}

async function merge(visit: MergeRequestVisit) {
  const { mr, world, user } = visit;
  demand(visit, developer);
  if (mr.project.protectedBranches.has(mr.targetBranch) && visit.level < 40) throw forbidden();
  if (mr.state !== "opened" || isDraft(mr)) throw new Refusal(405, { message: "405 Method Not Allowed" });
  if (!(await mergeMergeRequest(world, mr, user))) throw new Refusal(422, { message: "Branch cannot be merged" });
  return { status: 200, body: await detailed(world, mr) };
}

/** With the fields that lists omit. Each read of a merge request continues its preparation. */
async function detailed(world: World, mr: MergeRequest) {
  const view = mergeRequestView(mr, world.time);
  const version = mr.preparingReads > 0 ? undefined : headOf(mr);
  if (mr.preparingReads > 0) mr.preparingReads--;
  const base = version && (await baseOf(mr, version));
  const files = version && base !== undefined ? await mr.project.repository.diff(base, version.head) : [];
  return {
    ...view,
    changes_count: version ? String(files.length) : null,
    diff_refs: version ? { base_sha: base, head_sha: version.head, start_sha: version.start } : null,
    user: { can_merge: true },
  };
}
