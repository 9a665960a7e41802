import { jsonPath } from "../../apiserver/index.ts";
import type { KubeObject } from "../../kube/index.ts";
import { isLasting, isOn, pausableTask } from "../../policy/index.ts";
import {
  type AutomationPause,
  blockText,
  type CodingTask,
  findStall,
  type Kind,
  type Kinds,
  parsePauseTarget,
  type RemediationRequest,
  type StructuralSchema,
  stallReasons,
  toCrd,
  toObjectTarget,
} from "../../resources/index.ts";
import { nearest } from "../../schema/index.ts";
import { MisuseError } from "../command.ts";
import type { KindWord, NamedKind } from "./kinds.ts";
import { readMoment } from "./moment.ts";

/** The options of `interlock get` that select objects. */
export interface FilterOptions {
  readonly phase?: readonly string[];
  readonly reason?: readonly string[];
  readonly target?: string;
  readonly since?: string;
}

interface FilterContext {
  readonly nowMs: number;
  /** Reads the kinds that a target may be of. */
  readonly kinds: () => Promise<Kinds>;
}

/** Where a kind has what the filters compare. */
interface Fields {
  /** Field of the status with the phase. */
  readonly phase?: string;
  /** The phase of an object without a status. */
  readonly initial?: string;
  /** Fields of the status with a reason for the phase. */
  readonly reasons?: readonly string[];
  /** Path of the target. */
  readonly target?: string;
}

const fields: Readonly<Record<KindWord, Fields>> = {
  incidents: {
    phase: "phase",
    initial: "Pending",
    reasons: ["block.reason", "outcome"],
    target: ".status.diagnosis.target",
  },
  executions: {
    phase: "phase",
    initial: "Pending",
    reasons: ["skipDetails.reason", "failureDetails.reason"],
    target: ".spec.targetResource",
  },
  targets: { target: ".spec.targetResource" },
  workflows: { phase: "catalogStatus" },
  pauses: { target: ".spec.targetResource" },
  approvals: { phase: "decision", initial: "Pending", target: ".spec.targetResource" },
  notices: { phase: "phase", initial: "Pending", target: ".spec.context.targetResource" },
  tasks: {
    phase: "phase",
    initial: "Pending",
    reasons: ["failure.reason", "reason"],
    target: ".spec.targetResource",
  },
};

type Predicate = (object: KubeObject) => boolean;

/** Whether an object has everything that the options ask for. A value that no object can have is refused. */
export async function openFilter(named: NamedKind, options: FilterOptions, context: FilterContext): Promise<Predicate> {
  const predicates = [
    options.phase && phaseFilter(named, options.phase, context.nowMs),
    options.reason && reasonFilter(named, options.reason),
    options.target && (await targetFilter(named, options.target, context)),
    sinceFilter(options.since, context.nowMs),
  ].filter((one) => typeof one === "function");
  return (object) => predicates.every((isWanted) => isWanted(object));
}

function phaseFilter({ word, kind }: NamedKind, given: readonly string[], nowMs: number): Predicate {
  if (word === "pauses") {
    const wanted = readValues("phase", given, ["Active", "Ended"]);
    return (pause) => wanted.has(isLasting(pause as AutomationPause, nowMs) ? "Active" : "Ended");
  }
  const { phase, initial } = fields[word];
  if (phase === undefined) throw new MisuseError(`${word} have no phase`);
  const wanted = readValues("phase", given, [...(initial ? [initial] : []), ...wordsAt(kind, phase)]);
  const find = jsonPath(`.status.${phase}`);
  return (object) => wanted.has(String(find(object)[0] ?? initial));
}

/** A wait after failures is both a `Backoff`, as the table shows it, and `RecentlyRemediated`. */
function reasonFilter({ word, kind }: NamedKind, given: readonly string[]): Predicate {
  const { reasons } = fields[word];
  if (reasons === undefined) throw new MisuseError(`${word} have no reason`);
  const known = reasons.flatMap((field) => wordsAt(kind, field));
  // Reasons of tasks are an open list.
  const isOpen = known.length === 0;
  const wanted = isOpen
    ? new Set(given.flatMap(splitList))
    : readValues("reason", given, [...known, "Backoff", ...stallReasons]);
  const finders = reasons.map((field) => ({
    reason: jsonPath(`.status.${field}`),
    cause: jsonPath(`.status.${field.replace(/reason$/, "cause")}`),
  }));
  return (object) => {
    const stall = findStall(object)?.reason;
    if (stall && wanted.has(stall)) return true;
    return finders.some(({ reason, cause }) => {
      const [text] = reason(object);
      if (typeof text !== "string") return false;
      return wanted.has(text) || wanted.has(blockText(text, String(cause(object)[0] ?? "")));
    });
  };
}

async function targetFilter(
  { word }: NamedKind,
  text: string,
  { kinds: readKinds }: FilterContext,
): Promise<Predicate> {
  const { target: path } = fields[word];
  if (path === undefined) throw new MisuseError(`${word} have no target`);
  const kinds = await readKinds();
  const parsed = parsePauseTarget(text, kinds);
  if (parsed.kind === "problem") throw new MisuseError(`the target "${text}" ${parsed.problem}`);
  const find = jsonPath(path);
  return (object) => {
    if (word === "tasks") return isOn(pausableTask(object as CodingTask), parsed.text);
    const subject = word === "incidents" ? subjectText(object as RemediationRequest, kinds) : undefined;
    return subject === parsed.text || find(object)[0] === parsed.text;
  };
}

/** The object that an incident is about, which need not be the one that its workflow acts on. */
function subjectText({ spec }: RemediationRequest, kinds: Kinds): string | undefined {
  const read = toObjectTarget(spec.targetResource, kinds);
  return read.kind === "target" ? read.target.text : undefined;
}

/** By the time of creation, which every object has. */
function sinceFilter(since: string | undefined, nowMs: number): Predicate | undefined {
  const sinceMs = readMoment("since", since, nowMs);
  if (sinceMs === undefined) return undefined;
  return ({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") >= sinceMs;
}

/** The words that a field of the status may have, as the kind's schema lists them. */
function wordsAt(kind: Kind, field: string): readonly string[] {
  let schema: StructuralSchema | undefined = toCrd(kind).spec.versions[0]?.schema?.openAPIV3Schema;
  for (const name of ["status", ...field.split(".")]) schema = schema?.properties?.[name];
  return (schema?.enum ?? []).map(String);
}

/** The values of an option, several by commas or by repetition, in any case, as the list spells them. */
function readValues(option: string, given: readonly string[], known: readonly string[]): ReadonlySet<string> {
  return new Set(
    given.flatMap(splitList).map((text) => {
      const found = known.find((word) => word.toLowerCase() === text.toLowerCase());
      if (found) return found;
      const meant = nearest(text, known);
      const hint = meant ? `did you mean ${meant}?` : `write one of ${[...new Set(known)].join(", ")}`;
      throw new MisuseError(`unknown ${option} "${text}" (${hint})`);
    }),
  );
}

function splitList(text: string): readonly string[] {
  return text.split(",");
}
