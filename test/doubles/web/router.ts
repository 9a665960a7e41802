import type { Handler } from "./call.ts";

export interface Route {
  readonly method: string;
  /** `/projects/:id`; a parameter is one segment, still encoded when it is matched, decoded when it is handed over. */
  readonly template: string;
  readonly handler: Handler;
}

export type Found =
  | { readonly kind: "route"; readonly route: Route; readonly params: Record<string, string> }
  | { readonly kind: "wrong method" }
  | { readonly kind: "nothing" };

/** Finds routes by the number of their segments first: lists of routes stay short. */
export class Router {
  #bySize = new Map<number, { segments: readonly string[]; route: Route }[]>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = route.template.split("/");
      const entry = { segments, route };
      this.#bySize.set(segments.length, [...(this.#bySize.get(segments.length) ?? []), entry]);
    }
  }

  find(method: string, path: string): Found {
    const segments = path.split("/");
    let isKnown = false;
    for (const { segments: wanted, route } of this.#bySize.get(segments.length) ?? []) {
      if (!wanted.every((segment, at) => segment.startsWith(":") || segment === segments[at])) continue;
      if (route.method === method) return { kind: "route", route, params: paramsOf(wanted, segments) };
      isKnown = true;
    }
    return { kind: isKnown ? "wrong method" : "nothing" };
  }
}

function paramsOf(wanted: readonly string[], segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, segment] of wanted.entries()) {
    if (segment.startsWith(":")) params[segment.slice(1)] = decoded(segments[at] ?? "");
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
