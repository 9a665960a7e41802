import { z } from "zod";

// Schemas for what other programs write, of which every field may be missing or of another type: unreadable parts are left out.

/** An object; without fields if it is none. */
export function part<S extends z.ZodRawShape>(shape: S) {
  const toObject = (value: unknown) => (typeof value === "object" && !Array.isArray(value) ? (value ?? {}) : {});
  return z.preprocess(toObject, z.object(shape));
}

/** The entries of a list; none if it is no list, or an entry is not readable. */
export function listOf<S extends z.ZodType>(entry: S) {
  return z.array(entry).catch([]);
}

/** A text; undefined if it is empty. */
export const optionalText = z.string().min(1).optional().catch(undefined);

/** A text that may be missing; empty then. */
export const textOrEmpty = z.string().catch("");

/** True or anything else. */
export const flag = z.boolean().catch(false);

/** The texts of a list; other entries are omitted. */
export const texts = listOf(z.unknown()).transform((list) => list.filter((each) => typeof each === "string"));

/** A time, whatever its offset, as ISO 8601 in UTC. */
export const instant = z.string().transform((text, context) => {
  // Jira writes +0000, which `Date.parse` need not accept.
  const at = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  context.addIssue("is not a time");
  return z.NEVER;
});
