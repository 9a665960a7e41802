import type { NotificationRequest } from "../resources/index.ts";

/** Selects channels for notices. An absent condition matches every notice; `*` in a pattern stands for any text. */
export interface Route {
  readonly eventType?: readonly string[];
  readonly severity?: readonly string[];
  readonly namespace?: readonly string[];
  readonly target?: readonly string[];
  /** Names of channels, or `all`. */
  readonly channels: readonly string[];
}

/** Returns the channels of a notice, by all routes that match it. */
export function channelsFor(
  { metadata, spec }: NotificationRequest,
  { routes, channels }: { readonly routes: readonly Route[]; readonly channels: readonly string[] },
): readonly string[] {
  const found = new Set<string>();
  for (const route of routes) {
    const isMatch =
      matchesRoute(spec.eventType, route.eventType) &&
      matchesRoute(spec.severity, route.severity) &&
      matchesRoute(metadata.namespace ?? "", route.namespace) &&
      matchesRoute(spec.context?.targetResource ?? "", route.target);
    if (!isMatch) continue;
    for (const name of route.channels.includes("all") ? channels : route.channels) found.add(name);
  }
  return channels.filter((name) => found.has(name));
}

function matchesRoute(value: string, patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || patterns.some((pattern) => matches(value, pattern));
}

/** Matches the parts between the asterisks one after the other, in linear time: the first match of each part is sufficient. */
function matches(value: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return value === pattern;
  if (!value.startsWith(first) || !value.endsWith(last) || value.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = value.indexOf(part, at);
    if (found < 0 || found + part.length > value.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
