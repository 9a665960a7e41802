import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";

/** Names of what was recorded of an engine, in alphabetical order. */
export function recordedNames(engine: "tekton" | "job"): string[] {
  return readdirSync(join(import.meta.dirname, "recorded", engine))
    .map((file) => file.replace(".json", ""))
    .sort();
}

/** One recording, as it was written. */
export function recorded<T>(engine: "tekton" | "job", name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, "recorded", engine, `${name}.json`), "utf8")) as T;
}

/** Puts recorded objects into a cluster, with their status. */
export async function store<T extends KubeObject>(client: KubeClient, type: ResourceType<T>, objects: readonly T[]) {
  for (const object of objects) {
    const { name = "", namespace = "", labels = {} } = object.metadata;
    const created = await client.create(type, { ...object, metadata: { name, namespace, labels } });
    if (created.kind !== "created") throw new Error(`${name} is already there`);
    const merge = { status: Reflect.get(object, "status") };
    await client.patch(type, { name, namespace }, { merge }, { subresource: "status" });
  }
}
