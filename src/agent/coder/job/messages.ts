import { gunzipSync, gzipSync } from "node:zlib";
import type { KubeObject, ResourceType } from "../../../kube/index.ts";
import { type Wire, z } from "../../../schema/index.ts";
import type { TreeOrder } from "../../git/prepared-tree.ts";
import { type PatchLimits, patchRefusals } from "../../git/workshop.ts";

/** The input and the result of the pod. */
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

/** The maximum size of an object on the API server, less its metadata. */
export const largestMessage = 900_000;

/** The input of our own containers. */
export interface PodOrder extends TreeOrder {
  readonly edits: boolean;
  readonly maxOutputBytes: number;
  readonly maxAddedFiles: number;
  readonly patch: PatchLimits;
}

const resultSchema = z.object({
  code: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  outputTooLarge: z.boolean(),
  tooManyFiles: z.boolean(),
  /** The bytes of a patch are stored beside the result. */
  change: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("patch") }),
    z.object({ kind: z.literal("nothing") }),
    z.object({ kind: z.literal("refused"), reason: z.enum(patchRefusals), message: z.string() }),
  ]),
});
type StoredResult = Wire<typeof resultSchema>;

/** How the coder ended, and its change. */
export type PodResult = Omit<StoredResult, "change"> & {
  readonly change:
    | Exclude<StoredResult["change"], { kind: "patch" }>
    | { readonly kind: "patch"; readonly bytes: Uint8Array };
};

/** The result as it is stored. If the patch is too large, the change is refused instead. */
export function writeResult(result: PodResult): Pick<ConfigMap, "data" | "binaryData"> {
  const { change, ...output } = result;
  if (change.kind !== "patch") return { data: { result: JSON.stringify({ ...output, change }) } };
  const patch = gzipSync(change.bytes).toString("base64");
  const text = JSON.stringify({ ...output, change: { kind: "patch" } });
  if (patch.length + Buffer.byteLength(text) <= largestMessage)
    return { data: { result: text }, binaryData: { patch } };
  const message = `the compressed change is larger than ${largestMessage} bytes: ask for less at once`;
  return writeResult({ ...output, change: { kind: "refused", reason: "TooLarge", message } });
}

/** Undefined if the pod wrote something else. `maxBytes`: the largest patch that is unpacked. */
export function readResult({ data, binaryData }: ConfigMap, maxBytes: number): PodResult | undefined {
  try {
    const { change, ...output } = resultSchema.parse(JSON.parse(data?.["result"] ?? ""));
    if (change.kind !== "patch") return { ...output, change };
    const packed = Buffer.from(binaryData?.["patch"] ?? "", "base64");
    // One byte above the limit is enough for the patch to be refused.
    return { ...output, change: { kind: "patch", bytes: gunzipSync(packed, { maxOutputLength: maxBytes + 1 }) } };
  } catch {
    return undefined;
  }
}

/** The folders in the pod of a coder. */
export const podPaths = {
  /** Repository and index, for `fetch` and `collect`; not mounted for the coder. */
  work: "/run/interlock/work",
  /** The work tree. */
  tree: "/run/interlock/work/place/files",
  /** The input of `fetch` and `collect`. */
  order: "/run/interlock/order",
  /** The request to the coder. */
  request: "/run/interlock/request",
  /** The output of the coder: `stdout`, `stderr`, `code`. */
  output: "/run/interlock/output",
  /** GitLab's token, for `fetch` alone. */
  token: "/run/interlock/token",
  /** The Secret with the coder's variables, for `collect`: it redacts their values. */
  coderSecret: "/run/interlock/coder-secret",
  /** The service account of the pod, for `collect` alone. */
  account: "/var/run/secrets/kubernetes.io/serviceaccount",
} as const;
