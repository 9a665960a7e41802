import type { Clock, Random } from "../../time/index.ts";
import { runControllers } from "../controllers/run-controllers.ts";
import { namespaces } from "../kinds/namespaces.ts";
import type { ObjectStore } from "../object-store.ts";
import type { Api } from "./api.ts";
import { createObject } from "./create.ts";
import { LabelIndex } from "./label-index.ts";
import { Registry } from "./registry.ts";

export interface RunningApi extends Api {
  /** Stops the controllers. The store stays open: the caller owns it. */
  close(): void;
}

const firstNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Serves the objects of `store`, after it has created the namespaces that clients expect and started the controllers. */
export async function openApi({
  store,
  clock,
  random,
}: {
  store: ObjectStore;
  clock: Clock;
  random: Random;
}): Promise<RunningApi> {
  const registry = new Registry(store);
  const labels = new LabelIndex(store);
  const api: Api = { store, registry, labels, clock, random };
  const missing = firstNamespaces.filter((name) => !store.get("namespaces", "", name));
  for (const name of missing) await createObject(api, namespaces, { value: { metadata: { name } } }, { namespace: "" });
  // A client at version 1 has an empty cache and must list: so no client may watch from before the beginning.
  if (missing.length === firstNamespaces.length) store.compact(store.revision);

  const controllers = runControllers(api);
  return {
    ...api,
    close: () => {
      controllers.stop();
      registry.close();
      labels.close();
    },
  };
}
