import { z } from "../../../schema/index.ts";
import { parseResponse, type Rest, type RestRequest } from "../../rest/rest-client.ts";

export interface GitLabPage<T> {
  readonly items: readonly T[];
  /** There are further ones. */
  readonly more: boolean;
  /** The number of items on all pages, if GitLab counted them. */
  readonly total: number | undefined;
  readonly headers: Headers;
}

export type ListRequest<S extends z.ZodType> = Omit<RestRequest, "method" | "body"> & {
  /** The name of the list for people. */
  readonly what: string;
  readonly item: S;
};

export const pageSize = 100;
const maxRestarts = 3;

/** One page of a list; the first is 1. */
export async function readPage<S extends z.ZodType>(
  rest: Rest,
  { what, item, query, ...list }: ListRequest<S>,
  page: number,
  size = pageSize,
): Promise<GitLabPage<z.output<S>>> {
  const { body, headers } = await rest({ ...list, method: "GET", query: { ...query, per_page: size, page } });
  const items = parseResponse(z.array(item), body, `GitLab's ${what}`);
  const next = headers.get("x-next-page");
  const total = headers.get("x-total");
  return {
    items,
    more: next === null ? items.length >= size : next !== "",
    total: total === null || total === "" ? undefined : Number(total),
    headers,
  };
}

/**
 * Reads the list page by page until `enough`. Pages are counted from the start, so a deletion moves later items onto a
 * page that was already read: then the list is read again from the start.
 */
export async function readPages<S extends z.ZodType>(
  rest: Rest,
  list: ListRequest<S>,
  enough: (page: GitLabPage<z.output<S>>) => boolean = () => false,
): Promise<z.output<S>[]> {
  for (let restarts = 0; ; restarts++) {
    const pages: GitLabPage<z.output<S>>[] = [];
    do pages.push(await readPage(rest, list, pages.length + 1));
    while (pages.at(-1)?.more && !pages.some(enough));

    const totals = pages.map(({ total }) => total ?? 0);
    const isWhole = totals.every((total, i) => i === 0 || total >= (totals[i - 1] ?? 0));
    if (isWhole || restarts === maxRestarts) return pages.flatMap(({ items }) => items);
  }
}
