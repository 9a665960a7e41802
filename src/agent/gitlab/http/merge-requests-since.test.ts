import { describe, expect, it } from "vitest";
import type { Rest, RestRequest } from "../../rest/rest-client.ts";
import { mergeRequestsSince } from "./merge-requests-since.ts";

const from = "2026-01-01T00:00:00Z";

describe("merge requests on several pages", () => {
  it("are complete if one changes between two pages", async () => {
    const server = serverOf(250);
    server.afterPage = (page) => {
      if (page <= 2) server.touch(1);
    };

    const { items, more } = await mergeRequestsSince(server.rest, 7, { from });

    expect(new Set(items.map(({ iid }) => iid)).size).toBe(250);
    expect(items.at(-1)?.iid).toBe(1);
    expect(more).toBe(false);
  });

  it("are complete if more than a page changed at one moment", async () => {
    const server = serverOf(250, () => 5_000);

    const { items } = await mergeRequestsSince(server.rest, 7, { from });

    expect(items).toHaveLength(250);
  });

  it("are read up to the limit", async () => {
    const server = serverOf(250);

    const { items, more } = await mergeRequestsSince(server.rest, 7, { from, limit: 150 });

    expect(items).toHaveLength(150);
    expect(more).toBe(true);
    expect(server.pages).toBe(2);
  });

  it("have the server's time of the first page", async () => {
    const { serverDate } = await mergeRequestsSince(serverOf(101).rest, 7, { from });

    expect(serverDate.toISOString()).toBe("2026-11-15T08:49:01.000Z");
  });

  it("without a Date are refused, because no other clock may be used", async () => {
    const silent: Rest = async () => ({ body: [], headers: new Headers() });

    await expect(mergeRequestsSince(silent, 7, { from })).rejects.toMatchObject({ kind: "refused" });
  });
});

/** A server with merge requests that changed at `1 s * iid` after `from`, or at the time that `at` returns. */
function serverOf(count: number, at = (iid: number) => iid * 1_000) {
  const start = Date.parse(from);
  const changedAt = new Map(Array.from({ length: count }, (_, i) => [i + 1, start + at(i + 1)]));
  const server = {
    pages: 0,
    afterPage: (_page: number) => {},
    touch: (iid: number) => changedAt.set(iid, Math.max(...changedAt.values()) + 1_000),
    rest: async ({ query = {} }: RestRequest) => {
      const after = Date.parse(String(query["updated_after"]));
      const [page, size] = [Number(query["page"]), Number(query["per_page"])];
      const found = [...changedAt].filter(([, ms]) => ms >= after).toSorted((a, b) => a[1] - b[1] || a[0] - b[0]);
      const body = found.slice((page - 1) * size, page * size).map(([iid, ms]) => view(iid, ms));
      const headers = new Headers({
        date: new Date(Date.parse("2026-11-15T08:49:01Z") + server.pages * 1_000).toUTCString(),
      });
      headers.set("x-next-page", found.length > page * size ? String(page + 1) : "");
      server.afterPage(++server.pages);
      return { body, headers };
    },
  };
  return server;
}

function view(iid: number, ms: number) {
  return {
    ...{
      iid,
      project_id: 7,
      title: "t",
      state: "opened",
      source_branch: "a",
      target_branch: "b",
      source_project_id: 7,
    },
    ...{ web_url: "u", updated_at: new Date(ms).toISOString().replace("Z", "+00:00") },
  };
}
