import { type KnownKind, kindText } from "./built-in-kinds.ts";
import { builtInKinds, type Kinds } from "./kinds.ts";
import { maxTargetLength, type ObjectTarget, problem, type TargetProblem, type TargetReading } from "./target.ts";

/** `[cluster:]namespace/kind/name` or `[cluster:]kind/name`, in any spelling of the kind. */
export function parseObjectTarget(text: string, kinds: Kinds = builtInKinds): TargetReading<ObjectTarget> {
  if (text.length > maxTargetLength) return problem(`is longer than ${maxTargetLength} characters`);
  const parts = text.split("/");
  if (parts.length < 2 || parts.length > 3) return problem(`is not a target: ${expected}`);

  const [first = "", ...rest] = parts;
  const colon = first.indexOf(":");
  const [name = "", spelling = "", namespace] = [colon < 0 ? first : first.slice(colon + 1), ...rest].reverse();
  const cluster = colon < 0 ? undefined : first.slice(0, colon);

  const kind = kinds.find(spelling);
  if (!kind) return unknownKind(spelling, kinds);
  return toTarget(kind, { cluster, namespace, name });
}

/** A reference as Kubernetes writes it in events and owner references. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** The target of a reference. Without `apiVersion`, the kind must be a built-in one. */
export function toObjectTarget(
  { apiVersion = "", kind, namespace, name }: ObjectReference,
  kinds: Kinds = builtInKinds,
): TargetReading<ObjectTarget> {
  const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0]}` : "";
  const known = kinds.find(`${kind}${group}`);
  if (!known) return unknownKind(`${kind}${group}`, kinds);
  // Some senders write an empty namespace for a cluster-wide object, others omit it.
  return toTarget(known, { cluster: undefined, namespace: namespace || undefined, name });
}

const expected = "write namespace/kind/name, or kind/name for a kind that has no namespace";

function unknownKind(spelling: string, kinds: Kinds): TargetProblem {
  if (!/^[A-Za-z][A-Za-z0-9.-]*$/.test(spelling)) return problem(`has no valid kind: ${expected}`);
  if (/\.v\d+((alpha|beta)\d+)?(\.|$)/i.test(spelling)) {
    return problem(`names the kind "${spelling}" with a version: write it without, as in deployment.apps`);
  }
  if (spelling.includes(".")) {
    const what = `has the kind "${spelling}", which is neither built in nor defined by a custom resource definition here`;
    const sentence = `${what}: ${kinds.incomplete ?? addKind}`;
    return { ...problem(sentence), unknownKind: true };
  }
  const example = kinds.suggest(spelling) ?? "certificate.cert-manager.io";
  return problem(
    `has the kind "${spelling}", which is not built in: write other kinds with their group, as in ${example}`,
  );
}

/** How to make a kind known. */
export const addKind = "apply its CustomResourceDefinition, or declare the kind in the setting kinds.declared";

interface ObjectAddress {
  readonly cluster: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
}

function toTarget(known: KnownKind, { cluster, namespace, name }: ObjectAddress): TargetReading<ObjectTarget> {
  const kind = kindText(known);
  if (cluster !== undefined && !isCluster(cluster)) {
    return problem(`has no valid cluster before the colon: ${dnsLabel}, and not "git"`);
  }
  if (known.namespaced && namespace === undefined) {
    return problem(`has no namespace, and a ${kind} lives in one: write namespace/${kind}/name`);
  }
  if (!known.namespaced && namespace !== undefined) {
    return problem(`has a namespace, and a ${kind} lives in none: write ${kind}/name`);
  }
  if (namespace !== undefined && !isDnsLabel(namespace)) return problem(`has no valid namespace: ${dnsLabel}`);
  if (!isName(name, known)) return problem(`has no valid name for a ${kind}: ${nameRule(known)}`);

  const path = namespace === undefined ? `${kind}/${name}` : `${namespace}/${kind}/${name}`;
  return {
    kind: "target",
    target: {
      type: "object",
      text: cluster === undefined ? path : `${cluster}:${path}`,
      ...(cluster === undefined ? {} : { cluster }),
      ...(namespace === undefined ? {} : { namespace }),
      kind: known.singular,
      group: known.groups[0],
      name,
    },
  };
}

const dnsLabel = "at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit";

function isDnsLabel(text: string): boolean {
  return text.length <= 63 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text);
}

/** No cluster can be named `git`, because `git:` begins a repository. */
function isCluster(text: string): boolean {
  return isDnsLabel(text) && text !== "git";
}

function isName(name: string, kind: KnownKind): boolean {
  if (name.length > 253) return false;
  // Roles and bindings have case-sensitive names such as system:node.
  if (hasFreeNames(kind)) return /^[!-~]+$/.test(name) && !/[%/]/.test(name) && name !== "." && name !== "..";
  return dotted.test(name);
}

/** A DNS name. Each part matches in only one way, so the time is linear. */
const dotted = /^[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)*$/;

function nameRule(kind: KnownKind): string {
  if (hasFreeNames(kind)) return "at most 253 printable characters without space, % and /";
  return "at most 253 of a-z, 0-9, - and ., every part beginning and ending with a letter or digit";
}

function hasFreeNames({ groups }: KnownKind): boolean {
  return groups[0] === "rbac.authorization.k8s.io";
}
