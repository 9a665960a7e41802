import {
  builtInKinds,
  type Kinds,
  type KindsCache,
  kindText,
  type ObjectReference,
  type ObjectTarget,
  parseRecordedTarget,
  type Signal,
  type Target,
  type TargetReading,
  toObjectTarget,
} from "../../resources/index.ts";

/** The object that a signal is about, as its target and as Kubernetes refers to it. */
export interface SubjectObject {
  readonly kind: "object";
  readonly target: ObjectTarget;
  readonly reference: ObjectReference;
}

export type Subject =
  | SubjectObject
  | { readonly kind: "none"; readonly because: string }
  /** The signal names an object that cannot exist here. */
  | { readonly kind: "invalid"; readonly because: string };

export interface SubjectsOptions {
  readonly kinds: Pick<KindsCache, "current">;
  readonly ruleTarget: (signal: Signal) => Target | undefined;
}

/** Finds the subjects of signals among the kinds that are known now. */
export class Subjects {
  readonly #options: SubjectsOptions;
  /** Subjects of repeated signals; valid while the known kinds stay the same. */
  readonly #named = new WeakMap<Signal, { readonly kinds: Kinds; readonly subject: Subject }>();

  constructor(options: SubjectsOptions) {
    this.#options = options;
  }

  /** `node` is the name of the Node that the signal's hint leads to, if there is one. */
  find(signal: Signal, node: string | undefined): Subject {
    const { current: kinds } = this.#options.kinds;
    if (node !== undefined) return firstKnown([{ kind: "Node", name: node }], signal, kinds);
    if (signal.subject) return this.#findNamed(signal, kinds);
    const target = this.#options.ruleTarget(signal);
    if (target?.type === "object") return { kind: "object", target, reference: toReference(target, kinds) };
    return { kind: "none", because: signal.noSubject ?? "no Node has the name or the address that it gives" };
  }

  #findNamed(signal: Signal, kinds: Kinds): Subject {
    const known = this.#named.get(signal);
    if (known?.kinds === kinds) return known.subject;
    const subject = firstKnown(listReferences(signal), signal, kinds);
    this.#named.set(signal, { kinds, subject });
    return subject;
  }

  /** The subjects that a signal may have had while other kinds were known. Built-in kinds are always known. */
  listUnderOtherKinds(signal: Signal): readonly SubjectObject[] {
    if (!hasCustomKind(signal)) return [];
    return listReferences(signal).flatMap((reference) => {
      const reading = toObjectTarget(reference, this.#options.kinds.current);
      const known = reading.kind === "problem" && reading.unknownKind ? parseFormerTarget(reference) : reading;
      if (known.kind === "problem" || known.target.type !== "object") return [];
      return [{ kind: "object", target: known.target, reference }];
    });
  }
}

/** Whether a signal names an object of a kind that can become known or unknown. */
function hasCustomKind({ subject }: Signal): boolean {
  if (!subject) return false;
  const { apiVersion = "", kind } = subject;
  return builtInKinds.find(apiVersion.includes("/") ? `${kind}.${apiVersion.split("/")[0]}` : kind) === undefined;
}

/** The first of `references` whose kind is known. */
function firstKnown(references: readonly ObjectReference[], { noSubject }: Signal, kinds: Kinds): Subject {
  let problem = "";
  for (const reference of references) {
    const reading = toObjectTarget(reference, kinds);
    if (reading.kind === "target") return { kind: "object", target: reading.target, reference };
    problem ||= reading.problem;
  }
  if (noSubject !== undefined) return { kind: "none", because: noSubject };
  return { kind: "invalid", because: `the subject ${problem}` };
}

/** The references to the subject of a signal: the first of a known kind counts. */
function listReferences({ subject, coarserSubject: coarser }: Signal): readonly ObjectReference[] {
  if (!subject) return [];
  if (!coarser) return [subject];
  const { namespace: _, ...clusterWide } = subject;
  return [subject, clusterWide, coarser];
}

/** The target of a reference whose kind is no longer known. Assumes that the singular is the kind in lower case, as for nearly all kinds. */
function parseFormerTarget({ apiVersion = "", kind, namespace, name }: ObjectReference): TargetReading {
  const spelling = kind.includes(".") ? kind : `${kind}.${apiVersion.split("/")[0]}`;
  return parseRecordedTarget([...(namespace ? [namespace] : []), spelling.toLowerCase(), name].join("/"));
}

function toReference({ kind, group, namespace, name }: ObjectTarget, kinds: Kinds): ObjectReference {
  const known = kinds.find(group ? `${kind}.${group}` : kind);
  return { kind: known ? kindText(known) : kind, ...(namespace === undefined ? {} : { namespace }), name };
}
