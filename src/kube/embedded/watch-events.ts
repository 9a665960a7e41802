import type { WatchEvent } from "../client.ts";
import type { KubeObject } from "../object.ts";
import type { Api } from "./api/api.ts";
import type { Resource } from "./api/resource.ts";
import { type WatchOptions, watchObjects } from "./api/watch.ts";

/** A reader that is this far behind finds its stream ended, and can come back to where it was. */
const mostUnread = 100_000;

/** Watches at once, not at the first question: what happens in between is not missed. Ends when `signal` aborts. */
export function watchEvents(api: Api, resource: Resource, options: WatchOptions, signal?: AbortSignal) {
  const unread: WatchEvent<KubeObject>[] = [];
  let ended = false;
  let wake = () => {};
  const end = () => {
    ended = true;
    wake();
  };
  const watch = watchObjects(api, resource, options, ({ type, entry }) => {
    unread.push({ type, object: entry.object });
    if (unread.length > mostUnread) end();
    wake();
  });
  signal?.addEventListener("abort", end, { once: true });
  unread.push(...watch.initial.map(({ object }) => ({ type: "ADDED" as const, object })));

  return (async function* events() {
    try {
      for (;;) {
        const event = unread.shift();
        if (ended) return;
        if (event) yield event;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      watch.stop();
      signal?.removeEventListener("abort", end);
    }
  })();
}
