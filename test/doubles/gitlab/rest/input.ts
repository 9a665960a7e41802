import { type Call, jsonOf, Refusal } from "../../web/call.ts";

/** Named values, read as strictly as GitLab does. */
export class Input {
  readonly values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.values = values;
  }

  has(...names: readonly string[]): boolean {
    return names.some((name) => this.values[name] !== undefined);
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "object") throw invalid(`${name} is invalid`);
    return String(value);
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw invalid(`${name} is missing`);
    return value;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], otherwise: T): T {
    const value = this.text(name) ?? otherwise;
    if (!(allowed as readonly string[]).includes(value)) throw invalid(`${name} does not have a valid value`);
    return value as T;
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!["true", "false", "1", "0"].includes(value)) throw invalid(`${name} is invalid`);
    return value === "true" || value === "1";
  }

  number(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^-?\d+$/.test(value)) throw invalid(`${name} is invalid`);
    return Number(value);
  }

  time(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const atMs = Date.parse(value);
    if (Number.isNaN(atMs)) throw invalid(`${name} is invalid`);
    return atMs;
  }

  /** Given as a list, or as text with commas. */
  list(name: string): string[] | undefined {
    const value = this.values[name];
    if (value === undefined || value === null) return undefined;
    const parts = Array.isArray(value) ? value.map(String) : String(value).split(",");
    return parts.map((part) => part.trim()).filter(Boolean);
  }
}

/** The parameters of a request, from its query and its body. */
export function inputOf(call: Call): Input {
  return new Input({ ...Object.fromEntries(call.query), ...bodyOf(call) });
}

export function invalid(error: string): Refusal {
  return new Refusal(400, { error });
}

/** A body with another content type is ignored, so its parameters are missing. */
function bodyOf(call: Call): Record<string, unknown> {
  const type = call.headers["content-type"] ?? "";
  if (type.includes("json"))
    return jsonOf(call, (why) => invalid(`There was a problem in the JSON you submitted: ${why}`));
  if (type.includes("x-www-form-urlencoded")) return formOf(new URLSearchParams(call.body.toString()));
  return {};
}

/** `position[new_line]=3` as well. */
function formOf(form: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of form) {
    const [, outer, inner] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
    if (outer === undefined || inner === undefined) values[name] = value;
    else values[outer] = { ...(values[outer] as object), [inner]: value };
  }
  return values;
}
