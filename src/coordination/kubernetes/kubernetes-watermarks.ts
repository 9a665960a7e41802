import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import { CoordinationError } from "../errors.ts";
import { type Key, keyName } from "../key.ts";
import {
  findRefusal,
  type WatermarkEntry,
  type WatermarkRecord,
  type WatermarkStore,
  type WriteOutcome,
} from "../watermarks/watermarks.ts";
import { rethrowKubeError } from "./refusal.ts";

export interface KubernetesWatermarksOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Where earlier versions kept watermarks. One that is only there is carried over before it is used. */
  readonly formerNamespace?: string;
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps: ResourceType<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

const keyAnnotation = "kubernaut.ai/key";
const labels = { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "watermark" };

/** Watermarks as ConfigMaps named `watermark-…`, changed by compare-and-swap on the resourceVersion. */
export function kubernetesWatermarks(options: KubernetesWatermarksOptions): WatermarkStore {
  const { client, namespace, formerNamespace = namespace } = options;
  const refTo = (key: Key) => ({ namespace, name: `watermark-${keyName(key)}` });

  async function find(key: Key): Promise<ConfigMap | undefined> {
    const found = await findIn(namespace, key);
    return found || formerNamespace === namespace ? found : copyFromFormerNamespace(key);
  }

  async function findIn(searched: string, key: Key): Promise<ConfigMap | undefined> {
    const found = await client.get(configMaps, { ...refTo(key), namespace: searched });
    const storedKey = found?.metadata.annotations?.[keyAnnotation];
    if (!found || storedKey === key) return found;
    const other = storedKey ?? "none";
    throw new CoordinationError("collision", `${key} collides with the watermark of another key: ${other}`);
  }

  /**
   * The watermark of the former namespace, copied to this one. The create decides between replicas. The old object stays as it
   * is: an older replica may still move it, which only means that this one lags behind and sees items again.
   */
  async function copyFromFormerNamespace(key: Key): Promise<ConfigMap | undefined> {
    const former = await findIn(formerNamespace, key);
    if (!former) return undefined;
    const metadata = { ...refTo(key), labels, annotations: { [keyAnnotation]: key } };
    const outcome = await client.create(configMaps, { metadata, data: toData(parseRecord(former)) });
    return outcome.kind === "created" ? outcome.object : findIn(namespace, key);
  }

  async function read(key: Key): Promise<WatermarkRecord | undefined> {
    const found = await find(key);
    return found && parseRecord(found);
  }

  async function write(key: Key, next: WatermarkEntry, expected: string | "absent"): Promise<WriteOutcome> {
    const found = await find(key);
    const refused = findRefusal(found && parseRecord(found), next, expected);
    if (refused) return refused;

    const metadata = { ...refTo(key), labels, annotations: { [keyAnnotation]: key }, ...found?.metadata };
    const object: ConfigMap = { metadata, data: toData(next) };
    const outcome = found ? await client.update(configMaps, object) : await client.create(configMaps, object);
    if (outcome.kind === "updated" || outcome.kind === "created") {
      return { kind: "written", record: parseRecord(outcome.object) };
    }
    // Another process was faster, so its record decides.
    const winner = await read(key);
    return findRefusal(winner, next, expected) ?? { kind: "conflict", current: winner };
  }

  return {
    guarantee: "consensus",
    read: (key) => read(key).catch(rethrowKubeError(key)),
    write: (key, next, expected) => write(key, next, expected).catch(rethrowKubeError(key)),
  };
}

function toData({ cursor, fence }: WatermarkEntry): Record<string, string> {
  const { updatedAt, id } = cursor;
  return { updatedAt, fence: String(fence), ...(id !== undefined && { id }) };
}

function parseRecord({ metadata, data }: ConfigMap): WatermarkRecord {
  const { updatedAt = "", fence = "", id } = data ?? {};
  if (!/^\d+$/.test(fence) || updatedAt === "") {
    throw new CoordinationError("collision", `ConfigMap ${metadata.name} does not hold a watermark (any more)`);
  }
  const cursor = { updatedAt, ...(id !== undefined && { id }) };
  return { cursor, fence: BigInt(fence), revision: metadata.resourceVersion ?? "" };
}
