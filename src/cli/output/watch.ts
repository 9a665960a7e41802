import { informer, type KubeObject, type ListQuery, objectKey } from "../../kube/index.ts";
import type { Kind } from "../../resources/index.ts";
import type { ServerContext } from "../command.ts";
import type { View } from "./view.ts";

interface Selection {
  readonly kind: Kind;
  readonly query: ListQuery;
  /** Those of the objects that are shown, in the order in which they are shown at first. */
  readonly select: (objects: readonly KubeObject[]) => readonly KubeObject[];
}

/** Shows objects, and then each one that changes, until the user interrupts it. It reconnects to a server that restarts. */
export async function watchObjects(
  { kind, query, select }: Selection,
  view: View,
  context: ServerContext,
): Promise<void> {
  const { client, clock, random, terminal } = context;
  const signal = context.interrupted();
  const objects = informer<KubeObject>({
    client,
    type: kind,
    query,
    clock,
    random,
    signal,
    problem: ({ message }) => terminal.printError(`${message}; still watching`),
    backoff: { baseMs: 100, maxMs: 2_000, jitter: 0.5 },
  });
  await objects.synced.catch(() => {});
  if (signal.aborted) return;
  view.show(select(objects.list()), client.serverNowMs());

  const shown = new Map(select(objects.list()).map((object) => [objectKey(object), view.looks(object)]));
  objects.subscribe((event, object) => {
    const key = objectKey(object);
    // An object that no longer matches a filter is shown once more, as a reader of the output would otherwise keep its old state.
    if (select([object]).length === 0 && !shown.has(key)) return;
    const looks = event === "DELETED" ? undefined : view.looks(object);
    if (shown.get(key) === looks) return;
    if (looks === undefined || select([object]).length === 0) shown.delete(key);
    else shown.set(key, looks);
    view.showChange(object, client.serverNowMs(), looks === undefined);
  });
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
