import { RemoteError } from "../../remote-error.ts";
import type { Rest } from "../../rest/rest-client.ts";
import type { Listed, MergeRequest, Since } from "../gitlab.ts";
import { mergeRequestSchema } from "./decode.ts";
import { pageSize, readPage } from "./pages.ts";

/**
 * Lists merge requests in the order of their last change. One that changes during the listing moves to the end, and
 * later ones move up, so a page number would skip some. Each page is therefore requested by the time at which the last
 * one ended.
 */
export async function mergeRequestsSince(
  rest: Rest,
  projectId: number,
  { from, limit = Number.POSITIVE_INFINITY, signal }: Since & { signal?: AbortSignal | undefined },
): Promise<Listed<MergeRequest>> {
  const size = Math.min(pageSize, limit);
  const found = new Map<number, MergeRequest>();
  let serverDate: Date | undefined;
  let more = true;
  let after = from;
  let page = 1;
  while (more && found.size < limit) {
    const query = { state: "all", scope: "all", order_by: "updated_at", sort: "asc", updated_after: after };
    const path = `projects/${projectId}/merge_requests`;
    const list = { path, what: "merge requests", item: mergeRequestSchema, query, signal };
    const read = await readPage(rest, list, page, size);
    serverDate ??= readDate(read.headers);
    for (const each of read.items) {
      // At its newest position, also if it was read before.
      found.delete(each.iid);
      found.set(each.iid, each);
    }
    more = read.more;
    const last = [...found.values()].at(-1)?.updatedAt ?? after;
    // Many can change at one moment: within it only page numbers are left.
    page = Date.parse(last) > Date.parse(after) ? 1 : page + 1;
    after = page === 1 ? last : after;
  }
  const items = [...found.values()];
  return {
    items: items.slice(0, Math.min(limit, items.length)),
    serverDate: serverDate ?? readDate(new Headers()),
    more: more || items.length > limit,
  };
}

function readDate(headers: Headers): Date {
  const at = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(at)) throw new RemoteError("refused", "GitLab's response has no Date header; check the proxy");
  return new Date(at);
}
