import type { List } from "../client.ts";
import type { KubeObject } from "../object.ts";
import type { Operation } from "./operation.ts";
import type { HttpResponse } from "./read-response.ts";
import { parseContent, parseStatus, toKubeError } from "./status.ts";

interface Page<T> {
  readonly items?: readonly T[] | null;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

/** The requested part of the list; empty: all of it. */
export type PageQuery = { readonly limit?: string; readonly continue?: string };

/**
 * A list of any length, in pages that together show one moment. When that moment expires half-way, the list is requested
 * again in one piece, which cannot expire.
 */
export async function listPages<T extends KubeObject>(
  operation: Operation,
  pageSize: number,
  request: (page: PageQuery) => Promise<HttpResponse>,
): Promise<List<T>> {
  let items: T[] = [];
  let page: PageQuery = { limit: String(pageSize) };
  for (;;) {
    const response = await request(page);
    if (response.status === 410 && page.continue) {
      items = [];
      page = {};
      continue;
    }
    if (response.status !== 200) throw toKubeError(parseStatus(response), operation);

    const { items: more, metadata } = parseContent<Page<T>>(response, operation);
    for (const item of more ?? []) items.push(withKind(item, operation));
    if (!metadata?.continue) return { items, resourceVersion: metadata?.resourceVersion ?? "" };
    page = { limit: String(pageSize), continue: metadata.continue };
  }
}

/** In a list, and only there, the server leaves out the kind of its built-in objects. */
function withKind<T extends KubeObject>(item: T, { type: { apiVersion, kind } }: Operation): T {
  return item.kind ? item : { apiVersion, kind, ...item };
}
