import { z } from "../../../schema/index.ts";
import { parseResponse, type Rest } from "../../rest/rest-client.ts";
import type { Changes } from "../gitlab.ts";
import { versionSchema } from "./decode.ts";
import { readPage } from "./pages.ts";

/**
 * Reads the changes of a merge request. A version of them is never modified, so commits and diffs belong together even if
 * commits are pushed meanwhile; GitLab also leaves out less of it than of the merge request's own diffs.
 */
export async function readChanges(
  rest: Rest,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Changes | undefined> {
  const { body } = await rest({ method: "GET", path, signal });
  if (!parseResponse(preparedSchema, body, "GitLab's merge request").diff_refs) return undefined;
  const list = { path: `${path}/versions`, what: "versions", item: z.object({ id: z.int() }), signal };
  const [newest] = (await readPage(rest, list, 1)).items;
  if (!newest) return undefined;

  const one = await rest({ method: "GET", path: `${path}/versions/${newest.id}`, signal });
  const version = parseResponse(versionSchema, one.body, "GitLab's version");
  const refs = {
    baseSha: version.base_commit_sha,
    startSha: version.start_commit_sha,
    headSha: version.head_commit_sha,
  };
  return { refs, createdAt: version.created_at, files: version.diffs };
}

/** GitLab fills in `diff_refs` once it has worked out the changes. */
const preparedSchema = z.object({ diff_refs: z.looseObject({}).nullish() });
