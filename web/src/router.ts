import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { IconName } from "./components/icon.tsx";

export type PathParameters = Readonly<Record<string, string>>;

export interface PageProps {
  readonly parameters: PathParameters;
}

/** An entry of the table of pages. */
export interface Page {
  /** A pattern such as /incidents/:namespace/:name. */
  readonly path: string;
  readonly title: string;
  /** Opens the page after g. Pages without one are reached by links. */
  readonly key?: string;
  /** In the navigation; pages without one are not listed there. */
  readonly group?: "Operate" | "Explore" | "Understand";
  readonly icon?: IconName;
  readonly component: ComponentType<PageProps>;
}

interface Location {
  readonly path: string;
  readonly query: URLSearchParams;
}

export const location = signal<Location>(readLocation());

/** Follows the browser's Back and Forward. */
export function startRouter(): void {
  addEventListener("popstate", () => {
    location.value = readLocation();
  });
}

/** Opens a path of the console. `replace` adds no entry to the history, for example for each letter of a filter. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(undefined, "", to);
  else history.pushState(undefined, "", to);
  const before = location.value.path;
  location.value = readLocation();
  if (location.value.path !== before) scrollTo(0, 0);
}

/** Replaces the query of the current page. */
export function setQuery(query: URLSearchParams): void {
  const text = query.toString();
  navigate(text ? `${location.value.path}?${text}` : location.value.path, { replace: true });
}

/** The parameters in `path`, if it matches `pattern`. */
export function matchPath(pattern: string, path: string): PathParameters | undefined {
  const wanted = pattern.split("/");
  const given = path.replace(/(.)\/+$/, "$1").split("/");
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== value) return undefined;
      continue;
    }
    const decoded = decodePart(value);
    if (!decoded) return undefined;
    parameters[part.slice(1)] = decoded;
  }
  return parameters;
}

function decodePart(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** The console's page of a target. In the query, because a target has slashes and dots. */
export function targetPath(target: string): string {
  return `/target?${new URLSearchParams({ target })}`;
}

function readLocation(): Location {
  const { pathname, search } = globalThis.location ?? { pathname: "/", search: "" };
  return { path: pathname, query: new URLSearchParams(search) };
}
