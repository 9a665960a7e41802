import type { Route } from "../../web/router.ts";
import type { DiffFile } from "../diff.ts";
import { baseOf } from "../merge-requests.ts";
import { headOf, type MergeRequest, type Version } from "../model.ts";
import { commitView, diffView, mergeRequestView } from "../views.ts";
import type { World } from "../world.ts";
import { inMergeRequest, type MergeRequestVisit, missing, page } from "./desk.ts";

/** The routes of the changes of a merge request. Git computes them from the pushed commits. */
export function changes(world: World): Route[] {
  return [
    inMergeRequest("GET", "/diffs", world, async (visit) =>
      page(visit, await newestFiles(visit), (file) => diffView(file, world.settings)),
    ),
    inMergeRequest("GET", "/raw_diffs", world, rawDiffs),
    inMergeRequest("GET", "/changes", world, oldChanges),
    inMergeRequest("GET", "/versions", world, async (visit) => {
      const { mr } = visit;
      const bases = new Map<Version, string>();
      for (const version of mr.versions) bases.set(version, await baseOf(mr, version));
      const versions = isPreparing(mr) ? [] : mr.versions.toReversed();
      return page(visit, versions, (version) => versionView(world, mr, version, bases.get(version) ?? ""));
    }),
    inMergeRequest("GET", "/versions/:version", world, oneVersion),
    inMergeRequest("GET", "/commits", world, async (visit) =>
      page(visit, await commitsOf(visit.mr, headOf(visit.mr)), (commit) =>
        commitView(commit, visit.project, world.time),
      ),
    ),
  ];
}

async function newestFiles({ mr }: MergeRequestVisit): Promise<readonly DiffFile[]> {
  const version = headOf(mr);
  if (isPreparing(mr)) mr.preparingReads--;
  else if (version) return filesOf(mr, version);
  return [];
}

function isPreparing(mr: MergeRequest): boolean {
  return mr.preparingReads > 0;
}

async function filesOf(mr: MergeRequest, version: Version): Promise<readonly DiffFile[]> {
  return mr.project.repository.diff(await baseOf(mr, version), version.head);
}

async function commitsOf(mr: MergeRequest, version: Version | undefined) {
  return version ? mr.project.repository.log(`${version.start}..${version.head}`) : [];
}

async function oldChanges(visit: MergeRequestVisit) {
  const { mr, world, input } = visit;
  const version = isPreparing(mr) ? undefined : headOf(mr);
  const base = version && (await baseOf(mr, version));
  const files = await newestFiles(visit);
  const limits = input.flag("access_raw_diffs")
    ? { ...world.settings, collapsedBytes: world.settings.tooLargeBytes }
    : world.settings;
  const views = files.map((file) => diffView(file, limits));
  const overflow = views.some(({ collapsed, too_large }) => collapsed || too_large);
  const diff_refs = version ? { base_sha: base, head_sha: version.head, start_sha: version.start } : null;
  return { status: 200, body: { ...mergeRequestView(mr, world.time), diff_refs, changes: views, overflow } };
}

async function rawDiffs({ mr, project }: MergeRequestVisit) {
  const version = isPreparing(mr) ? undefined : headOf(mr);
  const body = version ? await project.repository.rawDiff(await baseOf(mr, version), version.head) : "";
  return { status: 200, headers: { "Content-Type": "text/plain" }, body };
}

async function oneVersion({ mr, world, call }: MergeRequestVisit) {
  const version = mr.versions.find(({ id }) => String(id) === call.params["version"]);
  if (!version) throw missing();
  const files = await filesOf(mr, version);
  const commits = await commitsOf(mr, version);
  return {
    status: 200,
    body: {
      ...versionView(world, mr, version, await baseOf(mr, version)),
      commits: commits.map((commit) => commitView(commit, mr.project, world.time)),
      diffs: files.map((file) => diffView(file, world.settings)),
    },
  };
}

function versionView({ time }: World, mr: MergeRequest, version: Version, base: string) {
  return {
    id: version.id,
    head_commit_sha: version.head,
    base_commit_sha: base,
    start_commit_sha: version.start,
    created_at: time.iso(version.createdMs),
    merge_request_id: mr.id,
    state: "collected",
  };
}
