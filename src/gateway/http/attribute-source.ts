import type { Signal } from "../../resources/index.ts";
import type { Sender } from "./sender-lines.ts";

/** The source of a route, and the sources that have a route or a watch of their own. */
export interface RouteSources {
  /** The source of the route's reader. */
  readonly own: string;
  /** Sources that no payload may name. */
  readonly builtIn: ReadonlySet<string>;
}

/** The effective source, or the reason why the sender may not use the source in the payload. */
export type Attribution =
  | { readonly kind: "source"; readonly source: string }
  | { readonly kind: "forbidden"; readonly problem: string };

/**
 * Derives the source of a signal from the sender's token and the route, never from the payload alone: the source is part
 * of the fingerprint, and with a free choice a sender could end the incidents of others. A payload may name one of the sources
 * of its token, but never one with a route or a watch of its own.
 */
export function attributeSource({ source }: Pick<Signal, "source">, sender: Sender, route: RouteSources): Attribution {
  if (source !== route.own) return attributeClaim(source, sender, route);
  if (!sender.sources || sender.sources.includes(route.own)) return { kind: "source", source };
  const [first] = ownSources(sender, route);
  if (first !== undefined) return { kind: "source", source: first };
  return { kind: "forbidden", problem: `the token of ${sender.name} is not for signals of ${route.own}` };
}

function attributeClaim(source: string, sender: Sender, { builtIn }: RouteSources): Attribution {
  if (builtIn.has(normalizeSource(source))) {
    return { kind: "forbidden", problem: `source ${JSON.stringify(source)} is built in: it has a route of its own` };
  }
  if (sender.sources && !sender.sources.includes(source)) {
    const problem = `the token of ${sender.name} is not for source ${JSON.stringify(source)}, but for ${sender.sources.join(", ")}`;
    return { kind: "forbidden", problem };
  }
  return { kind: "source", source };
}

/** Removes case, spaces, invisible characters and letter variants, so that look-alikes equal the built-in name. */
function normalizeSource(source: string): string {
  return source
    .normalize("NFKC")
    .replace(/[\p{C}\s]/gu, "")
    .toLowerCase();
}

/** Whether the sender may post any signal on the route. */
export function canPost(sender: Sender, route: RouteSources): boolean {
  if (!sender.sources || sender.sources.includes(route.own)) return true;
  return route.own === freeSource && ownSources(sender, route).length > 0;
}

/** The route whose payloads may name their source. */
export const freeSource = "generic";

/** Those of a token's sources that have no route of their own. */
function ownSources({ sources = [] }: Sender, { builtIn }: RouteSources): readonly string[] {
  return sources.filter((source) => !builtIn.has(source));
}
