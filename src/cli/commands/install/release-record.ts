import type { KubeClient, KubeObject, ResourceType } from "../../../kube/index.ts";
import type { ReleaseOptions } from "../../../manifests/index.ts";
import { managedBy } from "../../../resources/index.ts";
import { CommandError } from "../../command.ts";

/** The record of an installation, stored in a ConfigMap beside the stages, for `upgrade` and `uninstall`. */
export interface ReleaseRecord {
  readonly version: string;
  readonly options: ReleaseOptions;
  /** All created objects, so that a newer version finds those that it no longer needs. */
  readonly objects: readonly KubeObject[];
}

const recordName = "interlock-release";

interface RecordMap extends KubeObject {
  readonly data: { readonly version: string; readonly options: string; readonly objects: string };
}

const configMaps: ResourceType<RecordMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export async function readRelease(client: KubeClient, namespace: string): Promise<ReleaseRecord | undefined> {
  const found = await client.get(configMaps, { namespace, name: recordName });
  if (!found) return undefined;
  const { version, options, objects } = found.data;
  return { version, options: JSON.parse(options), objects: JSON.parse(objects) };
}

export async function writeRelease(client: KubeClient, { version, options, objects }: ReleaseRecord): Promise<void> {
  const namespace = options.places.locks;
  const data = { version, options: JSON.stringify(options), objects: JSON.stringify(objects.map(toIdentity)) };
  const labels = { [managedBy.label]: managedBy.value };
  const record = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: recordName, labels }, data };
  if ((await client.create(configMaps, record)).kind === "created") return;
  const patched = await client.patch(configMaps, { namespace, name: recordName }, { merge: { data } });
  if (patched.kind !== "updated")
    throw new CommandError(`ConfigMap ${namespace}/${recordName} changed; repeat the command`);
}

export async function removeRelease(client: KubeClient, namespace: string): Promise<void> {
  await client.delete(configMaps, { namespace, name: recordName });
}

function toIdentity({ apiVersion = "", kind = "", metadata: { name = "", namespace } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}
