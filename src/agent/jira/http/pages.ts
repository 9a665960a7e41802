import { type Fields, fieldsOf } from "../../rest/fields.ts";
import type { Ask, Rest } from "../../rest/rest-client.ts";

/** A list that counts from `startAt`; `name` is also the field that has its items. */
export type ListRequest = Omit<Ask, "method" | "body"> & { readonly name: string };

/** All of a list. */
export async function readAll(rest: Rest, { name, query, ...list }: ListRequest): Promise<Fields[]> {
  const items: Fields[] = [];
  for (;;) {
    const { body } = await rest({
      ...list,
      method: "GET",
      query: { ...query, startAt: items.length, maxResults: 100 },
    });
    const page = fieldsOf(body, `Jira's list of ${name}`);
    const read = page.list(name);
    items.push(...read);
    const total = page.raw("total");
    const isLast = page.flag("isLast") || (typeof total === "number" && items.length >= total);
    if (isLast || read.length === 0) return items;
  }
}
