import { reasonGetters, rowFacts } from "../../console/rows/index.ts";
import type { KubeObject } from "../../kube/index.ts";
import { isLasting, isOn, pausableTask } from "../../policy/index.ts";
import {
  type AutomationPause,
  type CodingTask,
  type Kinds,
  parsePauseTarget,
  type RemediationRequest,
  type RemediationWorkflow,
  toObjectTarget,
} from "../../resources/index.ts";
import { nearest } from "../../schema/index.ts";
import { MisuseError } from "../command.ts";
import type { NamedKind } from "./kinds.ts";
import { readMoment } from "./options.ts";

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

type Predicate = (object: KubeObject) => boolean;

/** Whether an object has everything that the options ask for. A value that no object can have is refused. */
export async function openFilter(named: NamedKind, options: FilterOptions, context: FilterContext): Promise<Predicate> {
  const predicates = [
    options.phase && (await phaseFilter(named, options.phase, context.nowMs)),
    options.reason && (await reasonFilter(named, options.reason)),
    options.target && (await targetFilter(named, options.target, context)),
    sinceFilter(options.since, context.nowMs),
  ].filter((one) => typeof one === "function");
  return (object) => predicates.every((isWanted) => isWanted(object));
}

/** The words come from the schemas, which take longer to load than most commands run. */
const filterWords = () => import("./filter-words.ts");

async function phaseFilter(named: NamedKind, given: readonly string[], nowMs: number): Promise<Predicate> {
  const known = (await filterWords()).phaseWords(named);
  if (known === undefined) throw new MisuseError(`${named.word} have no phase`);
  const wanted = readValues("phase", given, known);
  const { word } = named;
  if (word === "workflows") return (object) => wanted.has((object as RemediationWorkflow).status?.catalogStatus ?? "");
  if (word === "pauses") {
    return (pause) => wanted.has(isLasting(pause as AutomationPause, nowMs) ? "Active" : "Ended");
  }
  return (object) => wanted.has(rowFacts(word, object).phase);
}

async function reasonFilter(named: NamedKind, given: readonly string[]): Promise<Predicate> {
  const { word } = named;
  const known = (await filterWords()).reasonWords(named);
  if (known === undefined || word === "workflows") throw new MisuseError(`${word} have no reason`);
  const wanted = known.length === 0 ? new Set(given.flatMap(splitList)) : readValues("reason", given, known);
  return (object) => {
    const facts = rowFacts(word, object);
    return reasonGetters.some((getReason) => wanted.has(getReason(facts)));
  };
}

async function targetFilter(
  { word }: NamedKind,
  text: string,
  { kinds: readKinds }: FilterContext,
): Promise<Predicate> {
  if (word === "workflows") throw new MisuseError(`${word} have no target`);
  const kinds = await readKinds();
  const parsed = parsePauseTarget(text, kinds);
  if (parsed.kind === "problem") throw new MisuseError(`the target "${text}" ${parsed.problem}`);
  return (object) => {
    if (word === "tasks") return isOn(pausableTask(object as CodingTask), parsed.text);
    const subject = word === "incidents" ? subjectText(object as RemediationRequest, kinds) : undefined;
    return subject === parsed.text || rowFacts(word, object).target === parsed.text;
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

/** The values of an option, several by commas or by repetition, in any case, as the list spells them. */
function readValues(option: string, given: readonly string[], known: readonly string[]): ReadonlySet<string> {
  return new Set(
    given.flatMap(splitList).map((text) => {
      const found = known.find((word) => word.toLowerCase() === text.toLowerCase());
      if (found) return found;
      const meant = nearest(text, known);
      const hint = meant ? `did you mean ${meant}?` : `write one of ${known.join(", ")}`;
      throw new MisuseError(`unknown ${option} "${text}" (${hint})`);
    }),
  );
}

function splitList(text: string): readonly string[] {
  return text.split(",");
}
