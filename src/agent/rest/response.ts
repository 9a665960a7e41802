import { parse, z } from "../../schema/index.ts";
import { RemoteError } from "../remote-error.ts";

/** Parses a response; `what` is its name in errors: `GitLab's merge request`. Fields that the schema lacks are ignored. */
export function parseResponse<S extends z.ZodType>(schema: S, body: unknown, what: string): z.output<S> {
  const parsed = parse(schema, body);
  if (parsed.kind === "valid") return parsed.value as z.output<S>;
  const problems = parsed.problems.slice(0, 3).map(({ path, wrong }) => (path ? `\`${path}\` ${wrong}` : wrong));
  throw new RemoteError("refused", `${what} is invalid: ${problems.join(", ")}; check the version of the server`);
}

/** A text that may be missing; empty then. */
export const textOrEmpty = z.string().catch("");

/** True or anything else. */
export const flag = z.boolean().catch(false);

/** The texts of a list; other entries are omitted. */
export const texts = z
  .array(z.unknown())
  .catch([])
  .transform((list) => list.filter((each) => typeof each === "string"));

/** A time, whatever its offset, as ISO 8601 in UTC. */
export const instant = z.string().transform((text, context) => {
  // Jira writes +0000, which `Date.parse` need not accept.
  const at = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  context.addIssue("is not a time");
  return z.NEVER;
});
