import { fieldsOf, instantOf } from "../../rest/fields.ts";
import type { Rest } from "../../rest/rest-client.ts";
import type { Changes } from "../gitlab.ts";
import { fileChangeOf } from "./decode.ts";
import { readPage } from "./pages.ts";

/**
 * What a merge request changes. A version of it never changes itself, so commits and diffs belong together even if
 * somebody pushes meanwhile; GitLab also leaves out less of it than of the merge request's own diffs.
 */
export async function readChanges(
  rest: Rest,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Changes | undefined> {
  const mergeRequest = fieldsOf((await rest({ method: "GET", path, signal })).body, "GitLab's merge request");
  if (!mergeRequest.anyObject("diff_refs")) return undefined;
  const [newest] = (await readPage(rest, { path: `${path}/versions`, what: "versions", signal }, 1)).items;
  if (!newest) return undefined;

  const one = await rest({ method: "GET", path: `${path}/versions/${newest.integer("id")}`, signal });
  const version = fieldsOf(one.body, "GitLab's version");
  const refs = {
    baseSha: version.text("base_commit_sha"),
    startSha: version.text("start_commit_sha"),
    headSha: version.text("head_commit_sha"),
  };
  const createdAt = instantOf(version.text("created_at"), "GitLab's version");
  return { refs, createdAt, files: version.list("diffs").map(fileChangeOf) };
}
