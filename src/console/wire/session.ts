import { z } from "../../schema/index.ts";
import { roles } from "./names.ts";
import { operationName, rowKind } from "./rows.ts";
import { reference, text, time } from "./values.ts";

/** GET /api/v1/session: who calls, and what the caller may do. */
export const session = z.object({
  user: text,
  role: z.enum(roles),
  operations: z.array(operationName).describe("Those that the caller may perform. The web app shows no other."),
  kinds: z.array(rowKind).describe("The kinds of rows that the caller may read, and so ask the stream for."),
  version: text.describe("Of the program."),
  mode: z.enum(["embedded", "cluster"]),
  serverTime: time,
});

/** POST /api/v1/operations/NAME */
export const operationResult = z.object({
  message: text.describe("What happened, in one sentence."),
  notes: z.array(text).describe("What the caller should know beyond that."),
  kind: rowKind.optional(),
  object: reference
    .describe("What was changed or made. run and retry make an approval if the workflow requires one.")
    .optional(),
  command: text.describe("The same as a command line."),
});
