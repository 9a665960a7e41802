import { informer, type KubeObject, type ListQuery, objectKey } from "../../kube/index.ts";
import type { Kind } from "../../resources/index.ts";
import type { Desk } from "../command.ts";
import type { Table } from "./table.ts";

interface Wanted {
  readonly query: ListQuery;
  /** Which of them are shown, in which order at first. */
  readonly pick: (objects: readonly KubeObject[]) => readonly KubeObject[];
}

/** Prints a table, and then each row that changes, until the user interrupts it. It reconnects to a server that restarts. */
export async function watchTable(kind: Kind, table: Table, { query, pick }: Wanted, desk: Desk): Promise<void> {
  const { client, clock, random, terminal } = desk;
  const signal = desk.interrupted();
  const objects = informer<KubeObject>({
    client,
    type: kind,
    query,
    clock,
    random,
    signal,
    problem: ({ message }) => terminal.print(`(${message}; still watching)`),
    backoff: { baseMs: 100, maxMs: 2_000, jitter: 0.5 },
  });
  await objects.synced.catch(() => {});
  if (signal.aborted) return;
  for (const line of table.lines(pick(objects.list()), client.serverNowMs())) terminal.print(line);

  const shown = new Map(pick(objects.list()).map((object) => [objectKey(object), table.looks(object)]));
  objects.subscribe((event, object) => {
    const key = objectKey(object);
    if (pick([object]).length === 0) return;
    const looks = event === "DELETED" ? undefined : table.looks(object);
    if (shown.get(key) === looks) return;
    if (looks === undefined) shown.delete(key);
    else shown.set(key, looks);
    terminal.print(`${table.line(object, client.serverNowMs())}${looks === undefined ? "   (deleted)" : ""}`);
  });
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
