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
  /** `git:host/id` of the repository of the request, if it has one. The branch can be in another repository, a fork. */
  readonly repository?: string;
  readonly namespace?: string;
  /** Absent if no workflow is run. */
  readonly workflowId?: string;
}

/** Why an action has to wait, and for how long. */
export interface Paused {
  /** All pauses that cover it, the last to end first. */
  readonly pauses: readonly [Pause, ...Pause[]];
  /** The authors and reasons, in one sentence without its full stop. */
  readonly evidence: string;
  /** The text after "clears". */
  readonly clears: string;
  /** Absent if an operator has to end it. */
  readonly clearsAtMs?: number;
  /** What an operator can do. */
  readonly nextStep: string;
}

/** Whether the pause was neither ended nor deleted, and has not expired. */
export function isLasting({ metadata, spec, status }: AutomationPause, nowMs: number): boolean {
  return status === undefined && metadata.deletionTimestamp === undefined && endMs(spec) > nowMs;
}

/** Returns the pauses that are active at `nowMs`. */
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

/** Returns why an action has to wait at `nowMs`; undefined if no pause covers it. */
export function pausedBy(action: Pausable, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  const covering = pauses.filter((pause) => endMs(pause.spec) > nowMs && covers(pause, action));
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

/** Whether the action is on the named target or, if that is a repository, on any of its branches. */
export function isOn({ target, repository }: Pick<Pausable, "target" | "repository">, named: string): boolean {
  if (target === named || repository === named) return true;
  return named.startsWith("git:") && target.startsWith(`${named}@`);
}

/** Removes line breaks: the text becomes part of comments, in which a line can be a command. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function endMs({ until }: Pause["spec"]): number {
  return until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
}
