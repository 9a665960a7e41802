import type { Signal } from "../../resources/index.ts";
import type { Sender } from "./sender-lines.ts";

/** Whose signals a route takes, and which sources belong to routes and watches of our own. */
export interface RouteSources {
  /** The source of the route's reader. */
  readonly own: string;
  /** Sources that no payload may name. */
  readonly builtIn: ReadonlySet<string>;
}

/** The source that counts, or why the sender may not speak for the one that it names. */
export type Attribution =
  | { readonly kind: "source"; readonly source: string }
  | { readonly kind: "forbidden"; readonly problem: string };

/**
 * Derives the source of a signal from the sender's token and the route, never from the payload alone: the source is part
 * of the fingerprint, and a sender that chooses it freely can end the incidents of other senders. A payload may choose
 * only among the sources that its token lists, and never one that has a route or a watch of its own.
 */
export function attributeSource({ source }: Pick<Signal, "source">, sender: Sender, route: RouteSources): Attribution {
  if (source !== route.own) return attributeClaim(source, sender, route);
  if (!sender.sources || sender.sources.includes(route.own)) return { kind: "source", source };
  const [first] = ownSources(sender, route);
  if (first !== undefined) return { kind: "source", source: first };
  return { kind: "forbidden", problem: `the token of ${sender.name} is not for signals of ${route.own}` };
}

function attributeClaim(source: string, sender: Sender, { builtIn }: RouteSources): Attribution {
  if (builtIn.has(shownAs(source))) {
    return { kind: "forbidden", problem: `source ${JSON.stringify(source)} is built in: it has a route of its own` };
  }
  if (sender.sources && !sender.sources.includes(source)) {
    const problem = `the token of ${sender.name} is not for source ${JSON.stringify(source)}, but for ${sender.sources.join(", ")}`;
    return { kind: "forbidden", problem };
  }
  return { kind: "source", source };
}

/** A source as a reader takes it: without regard to case, spaces, invisible characters and other forms of a letter. */
function shownAs(source: string): string {
  return source
    .normalize("NFKC")
    .replace(/[\p{C}\s]/gu, "")
    .toLowerCase();
}

/** Whether the sender has anything to post on the route at all. */
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
