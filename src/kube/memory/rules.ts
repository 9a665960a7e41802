import { isDeepStrictEqual } from "node:util";
import { KubeError } from "../client.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../object.ts";
import { frozenCopy } from "./store.ts";

/** `object` as it is first stored: with what the server decides in `owned`, and without status. */
export function created(type: ResourceType, object: KubeObject, owned: ObjectMeta): KubeObject {
  const { generateName } = object.metadata;
  const generation = hasGeneration(type) ? 1 : undefined;
  return storable(type, object, {
    metadata: { ...editable(object.metadata), generateName, generation, ...owned },
    status: undefined,
  });
}

/** `stored` after a write of `desired`: everything but status and what the server owns, or status alone. */
export function changed(type: ResourceType, stored: KubeObject, desired: KubeObject, part?: "status"): KubeObject {
  if (part === "status") return storable(type, stored, { status: Reflect.get(desired, "status") });

  const metadata = { ...stored.metadata, ...editable(desired.metadata) };
  const next = storable(type, desired, { metadata, status: Reflect.get(stored, "status") });
  const { generation } = stored.metadata;
  if (!generation || isDeepStrictEqual(content(next), content(stored))) return next;
  return frozenCopy({ ...next, metadata: { ...next.metadata, generation: generation + 1 } });
}

/** `leases.coordination.k8s.io`, and `configmaps` without a group. */
export function resourceName(type: ResourceType): string {
  return [type.plural, groupOf(type)].filter(Boolean).join(".");
}

/** `Lease.coordination.k8s.io "a"` */
export function title(type: ResourceType, { name }: ObjectMeta): string {
  return `${[type.kind, groupOf(type)].filter(Boolean).join(".")} "${name}"`;
}

export function groupOf({ apiVersion }: ResourceType): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";
}

export function isLease(type: ResourceType): boolean {
  return resourceName(type) === "leases.coordination.k8s.io";
}

/** Leases and custom resources are never replaced blindly; ConfigMaps, Jobs and the like may be. */
export function needsVersion(type: ResourceType): boolean {
  return groupOf(type).includes(".");
}

function hasGeneration(type: ResourceType): boolean {
  return groupOf(type) !== "" && !isLease(type);
}

function content(object: KubeObject): object {
  return { ...object, metadata: undefined, status: undefined };
}

function editable({ labels, annotations, finalizers, ownerReferences }: ObjectMeta): object {
  const fields = Object.entries({ labels, annotations, finalizers, ownerReferences });
  return Object.fromEntries(
    fields.map(([field, value]) => [field, Object.keys(value ?? {}).length ? value : undefined]),
  );
}

function storable(type: ResourceType, object: KubeObject, parts: { metadata?: object; status: unknown }): KubeObject {
  const { apiVersion, kind } = type;
  const next: KubeObject = frozenCopy({ apiVersion, kind, ...object, ...parts });
  if (next.apiVersion !== apiVersion || next.kind !== kind) refuse(`${next.kind} is not the ${kind} it was sent as`);

  const { name = "", labels = {} } = next.metadata;
  if (name.length > 253 || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) {
    refuse(`${title(type, { name })} is invalid: metadata.name: must be a lower case DNS subdomain`);
  }
  for (const [key, value] of Object.entries(labels)) {
    if (value.length <= 63 && /^([A-Za-z0-9]([-\w.]*[A-Za-z0-9])?)?$/.test(value)) continue;
    refuse(`${title(type, { name })} is invalid: metadata.labels: ${key}: ${JSON.stringify(value)}`);
  }
  return isLease(type) ? frozenCopy({ ...next, spec: leaseSpec(Reflect.get(next, "spec")) }) : next;
}

function leaseSpec(sent: object | undefined): object {
  const spec: Record<string, unknown> = Object.fromEntries(
    Object.entries(sent ?? {}).filter(([, value]) => value !== null),
  );
  for (const field of ["acquireTime", "renewTime"]) {
    if (field in spec) spec[field] = utcMicroTime(spec[field]);
  }
  for (const [field, least] of [
    ["leaseDurationSeconds", 1],
    ["leaseTransitions", 0],
  ] as const) {
    if (field in spec && !(Number.isInteger(spec[field]) && Number(spec[field]) >= least)) {
      refuse(`Lease is invalid: spec.${field}: ${spec[field]}: must be an integer, at least ${least}`);
    }
  }
  return spec;
}

function utcMicroTime(time: unknown): string {
  const shape = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{6})(Z|[+-]\d\d:\d\d)$/;
  const [, seconds, fraction, zone] = shape.exec(String(time)) ?? [];
  const instant = new Date(`${seconds}${zone}`);
  if (Number.isNaN(instant.getTime())) refuse(`Lease cannot be handled: ${JSON.stringify(time)} is not a MicroTime`);
  return instant.toISOString().replace(".000Z", `${fraction}Z`);
}

function refuse(message: string): never {
  throw new KubeError("invalid", message);
}
