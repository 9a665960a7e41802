import { type AutomationPause, blockReasons, type Kinds, parsePauseTarget } from "../resources/index.ts";

/** The part of an `AutomationPause` that the policy reads. */
export interface Pause {
  readonly name: string;
  /** A target in it is in canonical form. */
  readonly spec: AutomationPause["spec"];
}

/** An action or a task that a pause may cover. */
export interface Pausable {
  /** In canonical form. */
  readonly target: string;
  /** `git:host/id` of the repository where it was asked for, if it was in one. Its branch may be in another: a fork. */
  readonly repository?: string;
  readonly namespace?: string;
  /** Undefined if it runs no workflow. */
  readonly workflowId?: string;
}

/** Why an action has to wait, and for how long. */
export interface Paused {
  /** All that cover it, the last to end first. */
  readonly pauses: readonly [Pause, ...Pause[]];
  /** Who and why, in one sentence without its full stop. */
  readonly evidence: string;
  /** To stand after "clears". */
  readonly clears: string;
  /** Undefined if a person has to end it. */
  readonly clearsAtMs?: number;
  /** What a person can do. */
  readonly nextStep: string;
}

/** Whether it is not ended by a person, not over, and not deleted. */
export function isLasting({ metadata, spec, status }: AutomationPause, nowMs: number): boolean {
  return status === undefined && metadata.deletionTimestamp === undefined && endMs(spec) > nowMs;
}

/** The pauses that last at `nowMs`. */
export function lastingPauses(pauses: readonly AutomationPause[], nowMs: number, kinds: Kinds): readonly Pause[] {
  return pauses
    .filter((pause) => isLasting(pause, nowMs))
    .map(({ metadata, spec }) => ({ name: metadata.name ?? "", spec: canonicalSpec(spec, kinds) }));
}

function canonicalSpec(spec: Pause["spec"], kinds: Kinds): Pause["spec"] {
  if (spec.scope !== "Target") return spec;
  const read = parsePauseTarget(spec.targetResource, kinds);
  return read.kind === "target" ? { ...spec, targetResource: read.text } : spec;
}

/** Why `asked` has to wait at `nowMs`; undefined if no pause covers it. */
export function pausedBy(asked: Pausable, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  const covering = pauses.filter((pause) => endMs(pause.spec) > nowMs && covers(pause, asked));
  const [last, ...others] = covering.sort((a, b) =>
    endMs(a.spec) === endMs(b.spec) ? 0 : endMs(b.spec) - endMs(a.spec),
  );
  if (!last) return undefined;
  const { until } = last.spec;
  const words = [last, ...others].map(({ name, spec }) => onOneLine(`${name} by ${spec.requestedBy} (${spec.reason})`));
  return {
    pauses: [last, ...others],
    evidence: `paused: ${words.join("; ")}`,
    clears: until === undefined ? blockReasons.Paused.clears : `at ${new Date(until).toISOString()}`,
    ...(until === undefined ? {} : { clearsAtMs: Date.parse(until) }),
    nextStep: `wait, or end it: interlock resume ${last.name} --reason "…"`,
  };
}

function covers({ spec }: Pause, { target, repository, namespace, workflowId }: Pausable): boolean {
  switch (spec.scope) {
    case "All":
      return true;
    case "Namespace":
      return spec.targetNamespace === namespace;
    case "Target":
      return isOn({ target, ...(repository && { repository }) }, spec.targetResource);
    case "Workflow":
      return spec.workflowId === workflowId;
  }
}

/** Whether it is about this very target or, if that is a whole repository, about any branch there. */
export function isOn({ target, repository }: Pick<Pausable, "target" | "repository">, named: string): boolean {
  if (target === named || repository === named) return true;
  return named.startsWith("git:") && target.startsWith(`${named}@`);
}

/** Text of people goes into sentences, and from there into comments, in which a new line may be a command. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function endMs({ until }: Pause["spec"]): number {
  return until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
}
