import { RemoteError } from "../remote-error.ts";

/** An object that a server sent. What we need must be there and of its type; all else may be as it likes. */
export interface Fields {
  text(name: string): string;
  /** Empty where there is none. */
  anyText(name: string): string;
  integer(name: string): number;
  flag(name: string): boolean;
  object(name: string): Fields;
  anyObject(name: string): Fields | undefined;
  list(name: string): readonly Fields[];
  texts(name: string): readonly string[];
  /** As it came. */
  raw(name: string): unknown;
}

/** Reads `value`, of which `what` is the name for people: `GitLab's merge request`. */
export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unexpected(`${what} is no object`);
  const object = value as Readonly<Record<string, unknown>>;
  const lacks = (name: string, type: string) => unexpected(`${what} has no ${type} \`${name}\``);

  return {
    text(name) {
      const text = object[name];
      if (typeof text !== "string") throw lacks(name, "text");
      return text;
    },
    anyText(name) {
      const text = object[name];
      return typeof text === "string" ? text : "";
    },
    integer(name) {
      const number = object[name];
      if (!Number.isSafeInteger(number)) throw lacks(name, "number");
      return number as number;
    },
    flag: (name) => object[name] === true,
    object(name) {
      if (!isObject(object[name])) throw lacks(name, "object");
      return fieldsOf(object[name], `${what}'s ${name}`);
    },
    anyObject: (name) => (isObject(object[name]) ? fieldsOf(object[name], `${what}'s ${name}`) : undefined),
    list(name) {
      if (!Array.isArray(object[name])) throw lacks(name, "list");
      return listOf(object[name], `${what}'s ${name}`);
    },
    texts(name) {
      const list = object[name];
      return Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
    },
    raw: (name) => object[name],
  };
}

/** Reads a list of objects. */
export function listOf(value: unknown, what: string): readonly Fields[] {
  if (!Array.isArray(value)) throw unexpected(`${what} is no list`);
  return value.map((each) => fieldsOf(each, what));
}

/** A time, whatever its offset, as ISO 8601 in UTC. */
export function instantOf(text: string, what: string): string {
  // Jira writes +0000, which not every reader takes.
  const at = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  if (Number.isNaN(at))
    throw unexpected(`${what} has a time that cannot be read: ${JSON.stringify(text.slice(0, 50))}`);
  return new Date(at).toISOString();
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unexpected(message: string): RemoteError {
  return new RemoteError("refused", `${message}; is this server of a version that we know?`);
}
