import { isJsonObject } from "../kube/index.ts";
import { type ObjectReference, type SignalReading, signalTime } from "../resources/index.ts";
import { toStorable } from "../telemetry/index.ts";
import { limitTexts } from "./limit-texts.ts";

/** The reading of a payload, or of a part of it, that is no signal. */
export type UnreadablePart = Extract<SignalReading, { kind: "problems" }>;

export function unreadable(problem: string): UnreadablePart {
  return { kind: "problems", problems: [problem] };
}

/** Collects all problems of a payload, in sentences that begin with the field. */
export class Problems {
  readonly list: string[] = [];

  add(sentence: string): undefined {
    this.list.push(sentence);
    return undefined;
  }

  /** A text that is present and not longer than the limit. */
  text(value: unknown, field: string, maxLength: number): string {
    if (typeof value !== "string" || value === "") this.add(`${field} is missing or is not text`);
    else if (value.length > maxLength) this.add(`${field} is longer than ${maxLength} characters`);
    else return toStorable(value);
    return "";
  }

  /** The time as signals have it; undefined with a problem if it is none. */
  time(value: unknown, field: string): string | undefined {
    return signalTime(value) ?? this.add(`${field} is not a time such as 2026-11-15T06:00:00Z`);
  }

  /** Texts by name, cut to the limit; empty if the field is absent. */
  texts(value: unknown, field: string): Readonly<Record<string, string>> {
    if (value === undefined || value === null) return {};
    if (!isJsonObject(value)) return this.add(`${field} is not an object of texts`) ?? {};
    const before = this.list.length;
    for (const name in value) if (typeof value[name] !== "string") this.add(`${field}.${shorten(name)} is not text`);
    return this.list.length > before ? {} : limitTexts(value as Readonly<Record<string, string>>);
  }
}

/** A name from a payload, shortened for messages. */
export function shorten(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`;
}

/** `namespace/kind/name` or `kind/name`; whether the kind exists is not checked. */
export function parseReference(text: string): ObjectReference | undefined {
  const parts = text.split("/");
  const [kind = "", name = ""] = parts.slice(-2);
  if (parts.length < 2 || parts.length > 3 || parts.includes("")) return undefined;
  return parts.length === 3 ? { kind, namespace: parts[0] as string, name } : { kind, name };
}
