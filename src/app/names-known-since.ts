import { type KubeClient, KubeError, type KubeObject, refOf } from "../kube/index.ts";
import { releaseKind } from "../manifests/index.ts";
import type { NameGuarantee } from "../policy/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { StageOptions } from "./stage.ts";

export interface NamesOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  /** The policy that is shipped, and its binding. */
  readonly policy: readonly KubeObject[];
}

/**
 * Returns since when the API server refuses names of other users in the fields that `policy` checks: since the policy and
 * its binding have their present form. Undefined if one of them is missing, differs from the shipped one, or is not readable.
 */
export async function namesKnownSince(
  { client, log, policy }: NamesOptions,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const since: number[] = [];
  for (const wanted of policy) {
    const found = await readObject(wanted, client, log, signal);
    if (!found || !isAsShipped(specOf(found), specOf(wanted))) return undefined;
    since.push(lastChangeMs(found));
  }
  return Math.max(...since);
}

/** Returns since when the API server checks the names in the fields of `policy`; always on the embedded server. */
export async function nameGuarantee(
  { client, log, onlyUser }: Pick<StageOptions, "client" | "log" | "onlyUser">,
  policy: readonly KubeObject[],
  signal: AbortSignal,
): Promise<NameGuarantee | undefined> {
  return onlyUser === undefined ? namesKnownSince({ client, log, policy }, signal) : alwaysKnown;
}

/**
 * The embedded server compares the names in all writes over HTTP with its user, from its start. In this process, the console
 * writes names of local users, whom it has authenticated.
 */
const alwaysKnown = Number.NEGATIVE_INFINITY;

async function readObject(object: KubeObject, client: KubeClient, log: Logger, signal?: AbortSignal) {
  try {
    return await client.get(releaseKind(object), refOf(object), signal ? { signal } : {});
  } catch (error) {
    // A server without these kinds has no such objects. After an outage the read is repeated.
    if (error instanceof KubeError && error.code === "invalid") return undefined;
    if (!(error instanceof KubeError && error.code === "forbidden")) throw error;
    log.warn("names cannot be verified", { policy: object.metadata.name, error });
    return undefined;
  }
}

function specOf(object: KubeObject): unknown {
  return (object as { readonly spec?: unknown }).spec;
}

/** Fields that the API server sets to a default. Any other field that we do not ship could narrow the policy. */
const defaults: Readonly<Record<string, unknown>> = { matchPolicy: "Equivalent", scope: "*" };

function isAsShipped(found: unknown, wanted: unknown): boolean {
  if (!isTree(wanted) || !isTree(found)) return found === wanted;
  const hasAllFields = Object.keys(wanted).every((key) => isAsShipped(found[key], wanted[key]));
  const hasNoOtherFields = Object.keys(found).every(
    (key) => key in wanted || isEmpty(found[key]) || (key in defaults && defaults[key] === found[key]),
  );
  return hasAllFields && hasNoOtherFields;
}

/** An object, or a list, whose members are numbered. */
function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isEmpty(value: unknown): boolean {
  return isTree(value) && Object.keys(value).length === 0;
}

/** Changes of the status are ignored. */
function lastChangeMs({ metadata }: KubeObject): number {
  const { managedFields = [] } = metadata as {
    readonly managedFields?: readonly { readonly time?: string; readonly subresource?: string }[];
  };
  const times = managedFields.filter(({ subresource }) => !subresource).map(({ time }) => time);
  return Math.max(
    ...[metadata.creationTimestamp, ...times].map((time) => Date.parse(time ?? "")).filter(Number.isFinite),
  );
}
