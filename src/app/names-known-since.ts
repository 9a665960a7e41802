import { type KubeClient, KubeError, type KubeObject, type ResourceType } from "../kube/index.ts";
import type { NameGuarantee } from "../policy/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { StageOptions } from "./stage.ts";

export interface NamesOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  /** The policy that is shipped, and its binding. */
  readonly policy: readonly KubeObject[];
}

const types = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"].map(
  (kind): ResourceType => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    plural: kind === "ValidatingAdmissionPolicy" ? "validatingadmissionpolicies" : "validatingadmissionpolicybindings",
    namespaced: false,
  }),
);

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
    const found = await lookUp(wanted, client, log, signal);
    if (!found || !isAsShipped(specOf(found), specOf(wanted))) return undefined;
    since.push(lastChangeOf(found));
  }
  return Math.max(...since);
}

/** What the API server guarantees about names that users write where `policy` looks. */
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

async function lookUp({ kind, metadata }: KubeObject, client: KubeClient, log: Logger, signal?: AbortSignal) {
  const type = types.find((type) => type.kind === kind);
  if (!type) throw new TypeError(`${kind} is looked up nowhere`);
  try {
    return await client.get(type, { name: metadata.name ?? "" }, signal ? { signal } : {});
  } catch (error) {
    // A server without these kinds has no such objects. After an outage the read is repeated.
    if (error instanceof KubeError && error.code === "invalid") return undefined;
    if (!(error instanceof KubeError && error.code === "forbidden")) throw error;
    log.warn("names cannot be verified", { policy: metadata.name, error });
    return undefined;
  }
}

function specOf(object: KubeObject): unknown {
  return (object as { readonly spec?: unknown }).spec;
}

/** Fields that the API server fills in. Any other that we do not ship could narrow what the policy sees. */
const filledIn: Readonly<Record<string, unknown>> = { matchPolicy: "Equivalent", scope: "*" };

function isAsShipped(found: unknown, wanted: unknown): boolean {
  if (!isTree(wanted) || !isTree(found)) return found === wanted;
  const isAllThere = Object.keys(wanted).every((key) => isAsShipped(found[key], wanted[key]));
  const isNoMore = Object.keys(found).every(
    (key) => key in wanted || isEmpty(found[key]) || (key in filledIn && filledIn[key] === found[key]),
  );
  return isAllThere && isNoMore;
}

/** An object, or a list, whose members are numbered. */
function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isEmpty(value: unknown): boolean {
  return isTree(value) && Object.keys(value).length === 0;
}

/** Its status is none of this. */
function lastChangeOf({ metadata }: KubeObject): number {
  const { managedFields = [] } = metadata as {
    readonly managedFields?: readonly { readonly time?: string; readonly subresource?: string }[];
  };
  const times = managedFields.filter(({ subresource }) => !subresource).map(({ time }) => time);
  return Math.max(
    ...[metadata.creationTimestamp, ...times].map((time) => Date.parse(time ?? "")).filter(Number.isFinite),
  );
}
