import { LineCounter, parseDocument } from "yaml";
import { KubeError } from "../client.ts";

/** What one context of a kubeconfig stands for. */
export interface ChosenContext {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cluster: Section;
  readonly user: Section;
}

/** Finds `context`, or the current one. No message repeats the content of the file: it is full of secrets. */
export function readKubeconfig(source: string, context?: string): ChosenContext {
  const file = new Section(parsed(source), "the file");
  const name = context ?? file.text("current-context");
  if (!name) throw invalid("no context is chosen: set current-context, or name one");

  const chosen = file.named("context", name);
  const user = chosen.text("user");
  return {
    name,
    namespace: chosen.text("namespace"),
    cluster: file.named("cluster", chosen.text("cluster") ?? ""),
    user: user ? file.named("user", user) : new Section({}, "no user"),
  };
}

/** A kubeconfig that cannot be used, and why. */
export function invalid(why: string, cause?: unknown): KubeError {
  return new KubeError("invalid", `kubeconfig: ${why}`, { cause });
}

/** A mapping in the file. What is empty counts as missing; what is of another type is refused by its place. */
export class Section {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #place: string;

  constructor(value: unknown, place: string) {
    if (typeof (value ?? {}) !== "object" || Array.isArray(value)) throw invalid(`${place} is not a mapping`);
    this.#fields = (value ?? {}) as Readonly<Record<string, unknown>>;
    this.#place = place;
  }

  has(field: string): boolean {
    return Boolean(this.#fields[field]);
  }

  text(field: string): string | undefined {
    const value = this.#fields[field] ?? "";
    if (typeof value !== "string") throw invalid(`${field} of ${this.#place} is not a string`);
    return value || undefined;
  }

  flag(field: string): boolean {
    const value = this.#fields[field] ?? false;
    if (typeof value !== "boolean") throw invalid(`${field} of ${this.#place} is neither true nor false`);
    return value;
  }

  texts(field: string): readonly string[] {
    const values = this.#list(field);
    if (!values.every((value) => typeof value === "string")) throw invalid(`${field} of ${this.#place} has no strings`);
    return values;
  }

  /** The cluster, user or context of that name: `clusters` holds entries of a `name` and a `cluster`. */
  named(kind: "cluster" | "user" | "context", name: string): Section {
    const title = `${kind} ${JSON.stringify(name)}`;
    for (const item of this.#list(`${kind}s`)) {
      const entry = new Section(item, `an entry of ${kind}s`);
      if (entry.text("name") === name) return new Section(entry.#fields[kind], title);
    }
    throw invalid(`there is no ${title}`);
  }

  #list(field: string): readonly unknown[] {
    const values = this.#fields[field] ?? [];
    if (!Array.isArray(values)) throw invalid(`${field} of ${this.#place} is not a list`);
    return values;
  }
}

function parsed(source: string): unknown {
  const lines = new LineCounter();
  // Pretty errors, and many plain ones, quote the offending line: it may be the one with the token.
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error) throw invalid(`not valid YAML at line ${lines.linePos(error.pos[0]).line}`);
  return document.toJS();
}
