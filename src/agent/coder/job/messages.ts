import { gunzipSync, gzipSync } from "node:zlib";
import type { KubeObject, ResourceType } from "../../../kube/index.ts";
import type { TreeOrder } from "../../git/prepared-tree.ts";
import type { PatchLimits, PatchReading } from "../../git/workshop.ts";

/** What goes into the pod and comes out of it, as ConfigMaps. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

export const configMaps: ResourceType<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

/** What the server takes in one object, less what is around it. */
export const largestMessage = 900_000;

/** What the containers of ours are told. */
export interface PodOrder extends TreeOrder {
  readonly edits: boolean;
  readonly maxOutputBytes: number;
  readonly maxAddedFiles: number;
  readonly patch: PatchLimits;
}

/** How the agent ended and what it left. */
export interface PodResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly outputTooLarge: boolean;
  readonly tooManyFiles: boolean;
  readonly change: Exclude<PatchReading, { kind: "patch" }> | { readonly kind: "patch"; readonly bytes: Uint8Array };
}

/** The result as it is stored. One that does not fit goes without its change, and says so. */
export function writeResult(result: PodResult): Pick<ConfigMap, "data" | "binaryData"> {
  const { change, ...said } = result;
  if (change.kind !== "patch") return { data: { result: JSON.stringify({ ...said, change }) } };
  const patch = gzipSync(change.bytes).toString("base64");
  const text = JSON.stringify({ ...said, change: { kind: "patch" } });
  if (patch.length + Buffer.byteLength(text) <= largestMessage)
    return { data: { result: text }, binaryData: { patch } };
  const message = `the change is larger than what can be handed over, ${largestMessage} bytes compressed; ask for less at a time`;
  return writeResult({ ...said, change: { kind: "refused", reason: "TooLarge", message } });
}

/** Undefined: it is not what we write. `maxBytes`: the largest patch that is unpacked. */
export function readResult({ data, binaryData }: ConfigMap, maxBytes: number): PodResult | undefined {
  try {
    const { change, ...said } = JSON.parse(data?.["result"] ?? "") as PodResult;
    if (change.kind !== "patch") return { ...said, change };
    const packed = Buffer.from(binaryData?.["patch"] ?? "", "base64");
    // One byte more than is allowed is enough to have it refused.
    return { ...said, change: { kind: "patch", bytes: gunzipSync(packed, { maxOutputLength: maxBytes + 1 }) } };
  } catch {
    return undefined;
  }
}
