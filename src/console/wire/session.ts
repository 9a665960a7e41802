import { z } from "../../schema/index.ts";
import { roles } from "./names.ts";
import { operationName, reference, rowKind, text, time } from "./rows.ts";

/** GET /api/v1/session: the caller, and the rights of the caller. */
export const session = z.object({
  user: text,
  role: z.enum(roles),
  operations: z.array(operationName).describe("Those that the caller may perform. The web app shows no others."),
  kinds: z.array(rowKind).describe("The kinds of rows that the caller may read and subscribe to."),
  version: text.describe("Of the program."),
  mode: z.enum(["embedded", "cluster"]),
  serverTime: time,
});

/** POST /api/v1/operations/NAME */
export const operationResult = z.object({
  message: text.describe("The result, in one sentence."),
  notes: z.array(text).describe("Further information for the caller."),
  kind: rowKind.optional(),
  object: reference
    .describe("The object that was changed or created. run and retry create an approval if the workflow requires one.")
    .optional(),
  command: text.describe("The same as a command line."),
});
