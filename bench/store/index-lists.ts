import { openApi } from "../../src/apiserver/api/open-api.ts";
import { embeddedClient } from "../../src/apiserver/index.ts";
import { informer, type KubeObject, type ResourceType } from "../../src/kube/index.ts";
import { installCrds } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../../test/doubles/volatile-store.ts";
import { machineMs } from "../locks/machine-time.ts";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import type { Measured } from "./embedded-store.ts";
import type { Plan } from "./plans.ts";
import { create } from "./sample.ts";

const perTarget = 10;

/** Finding one target's executions among few and among many: an index must not care how many others there are. */
export async function measureIndex(_folder: string, { index: { rounds, lists } }: Plan): Promise<Measured> {
  const [few, many] = [await shelf(1_000), await shelf(100_000)];
  const took = { few: [] as number[], many: [] as number[], bareFew: [] as number[], bareMany: [] as number[] };
  // In turn, with all of them in memory: the machine's moods and the collector's work are the same for each.
  for (let round = 0; round < rounds; round++) {
    took.few.push(micros(lists, few.byIndex));
    took.many.push(micros(lists, many.byIndex));
    took.bareFew.push(micros(lists, few.bare));
    took.bareMany.push(micros(lists, many.bare));
  }
  few.close();
  many.close();
  const ours = { few: median(took.few), many: median(took.many) };
  const bare = { few: median(took.bareFew), many: median(took.bareMany) };
  printTable(
    "One target's executions, by index",
    ["", "1,000", "100,000", "ratio"],
    [
      ["µs per list", ours.few, ours.many, ours.many / ours.few],
      ["µs in a bare Map", bare.few, bare.many, bare.many / bare.few],
    ],
  );
  return {
    figures: { indexListGrowth: ours.many / ours.few },
    calibration: { bareMapListGrowth: bare.many / bare.few },
  };
}

interface Execution extends KubeObject {
  readonly spec: { readonly targetResource: string };
}

const executions: ResourceType<Execution> = {
  apiVersion: "kubernaut.ai/v1alpha1",
  kind: "WorkflowExecution",
  plural: "workflowexecutions",
  namespaced: true,
};

interface Shelf {
  byIndex(i: number): readonly unknown[];
  /** The same from a Map of arrays. */
  bare(i: number): readonly unknown[];
  close(): void;
}

async function shelf(objects: number): Promise<Shelf> {
  const parts = { clock: systemClock(), random: systemRandom() };
  const store = volatileStore();
  const api = await openApi({ ...parts, store });
  const client = embeddedClient(api);
  await installCrds(client);
  for (let i = 0; i < objects; i++) await create(store, i);

  const stop = new AbortController();
  const indexes = { target: targetsOf };
  const informed = informer({ ...parts, client, type: executions, indexes, signal: stop.signal, problem: fail });
  await informed.synced;
  const map = mapOf(informed.list());
  // As many targets among few as among many: how much fits the processor's cache is not the question.
  const asked = [...map.keys()].filter((_, i) => i % (objects / 1_000) === 0);
  const target = (i: number) => asked[i % asked.length] as string;
  return {
    byIndex: (i) => informed.byIndex("target", target(i)),
    bare: (i) => [...(map.get(target(i)) ?? [])],
    close() {
      stop.abort();
      api.close();
    },
  };
}

function mapOf(all: readonly Execution[]): Map<string, Execution[]> {
  const map = new Map<string, Execution[]>();
  for (const execution of all) {
    const [target = ""] = targetsOf(execution);
    const known = map.get(target);
    if (known) known.push(execution);
    else map.set(target, [execution]);
  }
  return map;
}

/** Ten in a row are taken to be of one target. */
function targetsOf({ spec }: Execution): string[] {
  return [spec.targetResource.replace(/^.*\/app-(\d+)$/, (_, i) => `app-${Math.floor(Number(i) / perTarget)}`)];
}

function micros(count: number, list: (i: number) => readonly unknown[]): number {
  const startedAt = machineMs();
  let found = 0;
  for (let i = 0; i < count; i++) found += list(i).length;
  if (found !== count * perTarget) throw new Error("the index lost executions");
  return (1_000 * (machineMs() - startedAt)) / count;
}

function fail({ message }: { readonly message: string }) {
  throw new Error(message);
}
