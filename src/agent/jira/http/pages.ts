import { flag, z } from "../../../schema/index.ts";
import { parseResponse, type Rest, type RestRequest } from "../../rest/rest-client.ts";

/** A list that counts from `startAt`; `name` is also the field that has its items. */
export type ListRequest<S extends z.ZodType> = Omit<RestRequest, "method" | "body"> & {
  readonly name: string;
  readonly item: S;
};

/** All of a list. */
export async function readAll<S extends z.ZodType>(
  rest: Rest,
  { name, item, query, ...list }: ListRequest<S>,
): Promise<z.output<S>[]> {
  const page = z.object({
    [name]: z.array(item),
    isLast: flag,
    total: z.number().catch(Number.POSITIVE_INFINITY),
  });
  const items: z.output<S>[] = [];
  for (;;) {
    const { body } = await rest({
      ...list,
      method: "GET",
      query: { ...query, startAt: items.length, maxResults: 100 },
    });
    const { isLast, total, [name]: found } = parseResponse(page, body, `Jira's list of ${name}`);
    const read = found as z.output<S>[];
    items.push(...read);
    if (isLast || items.length >= (total as number) || read.length === 0) return items;
  }
}
