import type { KubeObject } from "../../../kube/index.ts";
import { type CustomResourceDefinition, crdStep, managedBy } from "../../../resources/index.ts";
import { describePatch, threeWayPatch } from "./three-way-patch.ts";

/** The step for one object. `because` is a reason for the operator. */
export type ObjectStep =
  | { readonly do: "create"; readonly object: KubeObject; readonly manifest: KubeObject }
  | {
      readonly do: "update";
      readonly object: KubeObject;
      readonly patch: Readonly<Record<string, unknown>>;
      readonly changes: readonly string[];
    }
  | { readonly do: "keep"; readonly object: KubeObject }
  | { readonly do: "leave" | "refuse"; readonly object: KubeObject; readonly because: string }
  | { readonly do: "delete"; readonly object: KubeObject };

/** That of kubectl, so that `kubectl apply` and these commands can take over from each other. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Plans the step from `live` to `desired`. Objects of other tools are never changed. */
export function planObject(desired: KubeObject, live: KubeObject | undefined): ObjectStep {
  const [object, manifest] = [desired, withLastApplied(desired)];
  if (!live) return { do: "create", object, manifest };
  const what = describeObject(desired);
  if (live.metadata.deletionTimestamp) {
    return { do: "refuse", object, because: `${what} is being deleted; repeat the command when it is deleted` };
  }
  if (live.metadata.labels?.[managedBy.label] !== managedBy.value) {
    const because = `${what} exists without the label ${managedBy.label}=${managedBy.value}, so it belongs to another tool`;
    if (desired.kind === "Namespace") return { do: "leave", object, because: `${because}: its labels are not set` };
    const todo = "remove it, or add that label to hand it over";
    return { do: "refuse", object, because: `${because}: ${todo}` };
  }
  if (desired.kind === "CustomResourceDefinition") {
    const step = crdStep(desired as CustomResourceDefinition, live as CustomResourceDefinition);
    if (step.do === "refuse") return { do: "refuse", object, because: step.because };
  }
  const patch = threeWayPatch({ last: readLastApplied(live), desired: fields(desired), live: fields(live) });
  if (Object.keys(patch).length === 0) return { do: "keep", object };
  const changes = describePatch(patch, fields(live));
  const { metadata = {} } = patch as Partial<KubeObject>;
  const annotations = { ...metadata.annotations, [lastApplied]: manifest.metadata.annotations?.[lastApplied] };
  // The write fails if the object has changed since it was read.
  const { resourceVersion } = live.metadata;
  return {
    do: "update",
    object,
    patch: { ...patch, metadata: { ...metadata, annotations, resourceVersion } },
    changes,
  };
}

/** `Deployment kubernaut-system/interlock-gateway` */
export function describeObject({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

/** Identifies an object of an installation. */
export function objectKey({ apiVersion, kind, metadata: { namespace = "", name } }: KubeObject): string {
  return [apiVersion, kind, namespace, name].join(" ");
}

function withLastApplied(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, [lastApplied]: `${JSON.stringify(object)}\n` };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function fields(object: KubeObject): Record<string, unknown> {
  return object as unknown as Record<string, unknown>;
}

function readLastApplied({ metadata }: KubeObject): Record<string, unknown> {
  try {
    return JSON.parse(metadata.annotations?.[lastApplied] ?? "{}");
  } catch {
    return {};
  }
}
