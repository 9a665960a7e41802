import type { KubeObject, WatchEvent } from "../kube/index.ts";
import type { Timer } from "../time/index.ts";
import type { Api } from "./api/api.ts";
import type { Resource } from "./api/resource.ts";
import { bookmarkEveryMs, type WatchOptions, watchObjects } from "./api/watch.ts";

/** The stream of a reader that is this far behind ends. The reader can watch again from its last version. */
const maxUnread = 100_000;

/** Watches from the call on, not from the first read, so that no event in between is lost. Ends when `signal` aborts. */
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
  const stopBookmarks = startBookmarks(api, () =>
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

/** Calls `bookmark` regularly: readers treat a stream without events as lost. Returns a function that stops it. */
function startBookmarks({ clock }: Api, bookmark: () => void): () => void {
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
