import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One recorded conversation with a real kube-apiserver 1.32. */
export interface Scenario {
  readonly name: string;
  readonly description: string;
  readonly crds?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  readonly request?: RecordedRequest;
  readonly response?: RecordedResponse;
  readonly capture?: Readonly<Record<string, string>>;
  /** Repeat until it matches. */
  readonly eventually?: boolean;
  /** The exact answer is an accident of Go, etcd or routing. */
  readonly detail?: boolean;
  readonly sleepMs?: number;
  readonly hook?: string;
  readonly events?: readonly unknown[];
  readonly watch?: {
    readonly open?: string;
    readonly read?: string;
    readonly quiet?: string;
    readonly end?: string;
    readonly close?: string;
    readonly forMs?: number;
    readonly withinMs?: number;
    readonly notBeforeMs?: number;
    readonly timeoutMs?: number;
    readonly bookmarks?: boolean;
    readonly sortByName?: boolean;
    readonly expectCount?: number;
    readonly type?: string;
  };
  readonly parallel?: {
    readonly count: number;
    readonly statuses: Readonly<Record<string, number>>;
    readonly bodies?: Readonly<Record<string, unknown>>;
  };
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly rawBody?: string;
}

export interface RecordedResponse {
  readonly status?: unknown;
  readonly contentType?: unknown;
  readonly warnings?: unknown;
  readonly textContains?: readonly string[];
  readonly body?: unknown;
}

const here = import.meta.dirname;

export function scenarios(): Scenario[] {
  const files = readdirSync(join(here, "scenarios")).sort();
  return files.map((file) => JSON.parse(readFileSync(join(here, "scenarios", file), "utf8")));
}

export function recordedCrd(name: string): { readonly metadata: { readonly name: string } } {
  return JSON.parse(readFileSync(join(here, "crds", `${name}.json`), "utf8"));
}

export type Variables = Record<string, unknown>;

/** `template` with its `${variables}` filled in, in keys and values alike. */
export function resolved<T>(template: T, variables: Variables): T {
  return resolve(template, variables) as T;
}

function resolve(template: unknown, variables: Variables): unknown {
  if (typeof template === "string") return resolveText(template, variables);
  if (Array.isArray(template)) return template.map((item) => resolve(item, variables));
  if (typeof template !== "object" || template === null) return template;
  const fields = Object.entries(template).map(([key, value]) => [
    resolveText(key, variables),
    resolve(value, variables),
  ]);
  return Object.fromEntries(fields);
}

function resolveText(text: string, variables: Variables): unknown {
  const padded = text.replace(/\$\{pad\.(\d+)\}/g, (_, count) => "x".repeat(Number(count)));
  const [, whole] = /^\$\{([A-Za-z0-9_.-]+)\}$/.exec(padded) ?? [];
  if (whole !== undefined) return variable(whole, variables);
  return padded.replace(/\$\{([A-Za-z0-9_.-]+)\}/g, (_, name) => String(variable(name, variables)));
}

function variable(name: string, variables: Variables): unknown {
  if (!(name in variables)) throw new Error(`variable ${name} has no value: did an earlier step fail?`);
  return variables[name];
}

/** Takes what a step wants to remember out of an answer. */
export function capture(step: Step, document: unknown, variables: Variables): void {
  for (const [name, pointer] of Object.entries(step.capture ?? {})) {
    let value = document;
    for (const part of pointer.split("/").slice(1)) {
      value = Object(value)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    if (value !== undefined) variables[name] = value;
  }
}
