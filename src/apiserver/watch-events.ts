import type { KubeObject, WatchEvent } from "../kube/index.ts";
import type { Timer } from "../time/index.ts";
import type { Api } from "./api/api.ts";
import type { Resource } from "./api/resource.ts";
import { bookmarkEveryMs, type WatchOptions, watchObjects } from "./api/watch.ts";

/** A reader that is this far behind finds its stream ended, and can come back to where it was. */
const maxUnread = 100_000;

/** Watches at once, not at the first question: what happens in between is not missed. Ends when `signal` aborts. */
export function watchEvents(api: Api, resource: Resource, options: WatchOptions, signal?: AbortSignal) {
  const unread: WatchEvent<KubeObject>[] = [];
  let ended = false;
  let wake = () => {};
  const end = () => {
    ended = true;
    wake();
  };
  function deliver(event: WatchEvent<KubeObject>) {
    unread.push(event);
    if (unread.length > maxUnread) end();
    wake();
  }
  const watch = watchObjects(api, resource, options, ({ type, entry }) => deliver({ type, object: entry.object }));
  const stopBookmarks = regularly(api, () =>
    deliver({ type: "BOOKMARK", resourceVersion: String(api.store.revision) }),
  );
  signal?.addEventListener("abort", end, { once: true });
  for (const { object } of watch.initial) unread.push({ type: "ADDED", object });

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
      stopBookmarks();
      signal?.removeEventListener("abort", end);
    }
  })();
}

/** As over a wire: readers consider a silent stream dead. Returns a function that stops it. */
function regularly({ clock }: Api, bookmark: () => void): () => void {
  let timer: Timer;
  function next() {
    timer = clock.after(bookmarkEveryMs, () => {
      bookmark();
      next();
    });
    timer.setBackground(true);
  }
  next();
  return () => timer.cancel();
}
