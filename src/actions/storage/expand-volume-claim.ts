import type { KubeObject, ResourceType } from "../../kube/index.ts";
import { type ActionInputs, type Decision, defineAction, done, type Reader, refuse, wait, write } from "../action.ts";
import { actedBy, annotate, hasActed, readTarget, updateTarget } from "../target-object.ts";
import { formatBytes, parseBytes } from "./bytes.ts";

interface VolumeClaim extends KubeObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: { readonly storage?: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

interface StorageClass extends KubeObject {
  readonly allowVolumeExpansion?: boolean;
}

interface Snapshot {
  readonly target: VolumeClaim | undefined;
  readonly storageClass: StorageClass | undefined;
}

const storageClasses: ResourceType<StorageClass> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
};

export const expandVolumeClaim = defineAction<Snapshot>({
  name: "expand-volume-claim",
  version: "1.0.0",
  description: "Requests more storage for a PersistentVolumeClaim whose storage class allows it, up to a limit.",
  verification: "the volume and its file system have the new capacity",
  targetKinds: ["persistentvolumeclaim"],
  parameters: {
    percent: {
      type: "integer",
      default: 20,
      minimum: 1,
      maximum: 100,
      description: "How much to add, in per cent of the current request.",
    },
    maxSize: {
      type: "string",
      default: "100Gi",
      pattern: "^[1-9][0-9]{0,5}(Mi|Gi|Ti)$",
      description: "Never more than this.",
    },
  },
  rights: [
    { group: "", resource: "persistentvolumeclaims", verbs: ["get", "update"], where: "target" },
    { group: "storage.k8s.io", resource: "storageclasses", verbs: ["get"], where: "cluster" },
  ],
  alerts: ["KubePersistentVolumeFillingUp"],
  // A volume cannot be made smaller, and some providers allow one change in six hours.
  cooldown: "6h",
  observe,
  decide,
});

async function observe({ target }: ActionInputs, reader: Reader): Promise<Snapshot> {
  const claim = await readTarget<VolumeClaim>(target, reader);
  const name = claim?.spec.storageClassName;
  return { target: claim, storageClass: name ? await reader.get(storageClasses, { name }) : undefined };
}

function decide({ target: claim, storageClass }: Snapshot, inputs: ActionInputs): Decision {
  const { target, executionUid } = inputs;
  if (!claim) return refuse(`${target.text} does not exist`);
  const requested = parseBytes(claim.spec.resources?.requests?.storage ?? "");
  if (requested === undefined) return refuse(`${target.text} has no readable request for storage`);
  return hasActed(claim, executionUid)
    ? verify(claim, requested, inputs)
    : expand({ claim, storageClass, requested }, inputs);
}

function expand(
  { claim, storageClass, requested }: { claim: VolumeClaim; storageClass: StorageClass | undefined; requested: bigint },
  { target, executionUid, parameters }: ActionInputs,
): Decision {
  if (claim.status?.phase !== "Bound") return refuse(`${target.text} is not bound to a volume`);
  if (storageClass?.allowVolumeExpansion !== true) {
    return refuse(`${target.text} cannot grow: its storage class does not allow expansion`);
  }
  const max = parseBytes(String(parameters["maxSize"])) ?? 0n;
  if (requested >= max)
    return refuse(`${target.text} has ${formatBytes(requested)}, and the limit is ${formatBytes(max)}`);
  const wanted = wholeMebibytes(requested + (requested * BigInt(Number(parameters["percent"]))) / 100n);
  const storage = formatBytes(wanted < max ? wanted : max);
  const { resources } = claim.spec;
  const next: VolumeClaim = {
    ...claim,
    metadata: annotate(claim.metadata, { [actedBy]: executionUid }),
    spec: { ...claim.spec, resources: { ...resources, requests: { ...resources?.requests, storage } } },
  };
  const text = `expand ${target.text} from ${formatBytes(requested)} to ${storage}`;
  return write(updateTarget(target, { observed: claim, next, text }));
}

function verify(claim: VolumeClaim, requested: bigint, { target }: ActionInputs): Decision {
  const capacity = parseBytes(claim.status?.capacity?.storage ?? "") ?? 0n;
  if (capacity >= requested) return done(`${target.text} has ${formatBytes(capacity)}`);
  const pending = claim.status?.conditions?.find(({ status }) => status === "True");
  const detail = pending ? `: ${pending.type}${pending.message ? ` (${pending.message})` : ""}` : "";
  return wait(`${target.text} has ${formatBytes(capacity)} of ${formatBytes(requested)}${detail}`);
}

const mebibyte = 1_024n * 1_024n;

function wholeMebibytes(bytes: bigint): bigint {
  return ((bytes + mebibyte - 1n) / mebibyte) * mebibyte;
}
