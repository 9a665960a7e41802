import { z } from "../../schema/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Viewer } from "../identity/identity.ts";
import type { Projection } from "../projection/projection.ts";
import { rowFilter, rowKind } from "../wire/rows.ts";
import { type RowFilter, type RowKind, rowKinds } from "../wire.ts";
import { type ApiRoute, ProblemError } from "./api-route.ts";
import { sendEvents } from "./event-stream.ts";
import { pageQuery } from "./schemas.ts";

const rowsQuery = z.strictObject({ ...rowFilter.shape, ...pageQuery.shape });

const streamQuery = z.strictObject({
  kinds: z.string().meta({ description: `Some of ${rowKinds.join(", ")}, separated by commas.` }),
  after: z.string().meta({ description: "The version of the rows that the caller has read." }).optional(),
});

/** The kinds that a caller of the page Now must be allowed to read. */
const nowKinds = ["incidents", "pauses", "executions"] as const satisfies readonly RowKind[];

/** Rows, and their changes as they happen. */
export function rowRoutes(projection: Projection, clock: Clock): readonly ApiRoute[] {
  return [
    {
      method: "GET",
      path: "/api/v1/now",
      summary: "The incidents of each lane, the active pauses, and the approvals and executions of no incident.",
      access: "viewer",
      result: "Now",
      async handle({ viewer }) {
        for (const kind of nowKinds) checkReadable(viewer, kind);
        const now = await projection.now();
        return viewer.readableKinds.includes("approvals") ? now : { ...now, approvals: [] };
      },
    },
    {
      method: "GET",
      path: "/api/v1/rows/:kind",
      summary: "One page of rows, newest first.",
      access: "viewer",
      params: z.object({ kind: rowKind }),
      query: rowsQuery,
      result: "RowPage",
      async handle({ viewer, params, query }) {
        const { kind } = params as { readonly kind: RowKind };
        checkReadable(viewer, kind);
        const { limit, after, ...filter } = query as RowFilter & { readonly limit: number; readonly after?: string };
        return projection.page(kind, { filter, limit, ...(after !== undefined && { after }) });
      },
    },
    {
      method: "GET",
      path: "/api/v1/stream",
      summary: "Changes of rows as they happen. A browser that connects again continues at its Last-Event-ID.",
      access: "viewer",
      query: streamQuery,
      result: { changes: "Changes", beat: "Beat" },
      async handle(call) {
        const { kinds: list, after: version } = call.query as z.output<typeof streamQuery>;
        const kinds = z.array(rowKind).safeParse(list.split(",").map((one) => one.trim())).data;
        if (!kinds) throw new ProblemError(400, `kinds must be some of ${rowKinds.join(", ")}, separated by commas.`);
        for (const kind of kinds) checkReadable(call.viewer, kind);
        const after = call.lastEventId ?? version;
        await sendEvents(call, clock, (signal) =>
          projection.stream({ kinds, ...(after !== undefined && { after }), signal }),
        );
      },
    },
  ];
}

/** Throws ProblemError for a caller who may not list rows of the kind. */
export function checkReadable({ name, readableKinds }: Viewer, kind: RowKind): void {
  if (!readableKinds.includes(kind)) throw new ProblemError(403, `${name} may not list ${kind}.`);
}
