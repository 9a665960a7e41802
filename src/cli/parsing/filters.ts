import { lanes, type RowFilter, rowFacts } from "../../console/rows/index.ts";
import type { KubeObject } from "../../kube/index.ts";
import { isOn, pausableTask } from "../../policy/index.ts";
import {
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
  readonly lane?: readonly string[];
  readonly workflow?: readonly string[];
  readonly search?: string;
  readonly target?: string;
  readonly since?: string;
}

interface FilterContext {
  readonly nowMs: number;
  /** Reads the kinds that a target may be of. */
  readonly kinds: () => Promise<Kinds>;
}

type Predicate = (object: KubeObject) => boolean;

/** Returns whether an object matches all options. Throws MisuseError for a value that no object can have. */
export async function openFilter(named: NamedKind, options: FilterOptions, context: FilterContext): Promise<Predicate> {
  const predicates = [
    await openRowFilter(named, options, context.nowMs),
    options.target && (await targetFilter(named, options.target, context)),
    sinceFilter(options.since, context.nowMs),
  ].filter((one) => typeof one === "function");
  return (object) => predicates.every((isWanted) => isWanted(object));
}

/** The filters that the console has, too: its projection makes an entry of each object, and compares it. */
async function openRowFilter(
  named: NamedKind,
  { phase, reason, lane, workflow, search }: FilterOptions,
  nowMs: number,
): Promise<Predicate | undefined> {
  const { kindName } = named;
  const filter: RowFilter = {
    ...(phase && { phase: await readPhases(named, phase) }),
    ...(reason && { reason: await readReasons(named, reason) }),
    ...(lane && { lane: readLanes(named, lane) }),
    ...(workflow && { workflow: workflow.join() }),
    ...(search !== undefined && { search }),
  };
  if (Object.keys(filter).length === 0) return undefined;
  if (kindName === "workflows") return workflowFilter(filter);
  const { EntryMaker, readFilter, RequestError } = await import("../../console/projection/index.ts");
  const maker = new EntryMaker();
  try {
    const { matches } = readFilter(kindName, filter, nowMs);
    return (object) => matches(maker.make(kindName, object));
  } catch (error) {
    throw error instanceof RequestError ? new MisuseError(error.message) : error;
  }
}

/** Workflows have no rows in the console. */
function workflowFilter({ phase, ...others }: RowFilter): Predicate {
  const [unsupported] = Object.keys(others);
  if (unsupported !== undefined) throw new MisuseError(`workflows cannot be selected by ${unsupported}`);
  const wanted = new Set(phase?.split(","));
  return (object) => wanted.has((object as RemediationWorkflow).status?.catalogStatus ?? "");
}

/** The words come from the schemas, which take longer to load than most commands run. */
const filterValues = () => import("./filter-values.ts");

async function readPhases(named: NamedKind, texts: readonly string[]): Promise<string> {
  const known = (await filterValues()).phaseValues(named);
  if (known === undefined) throw new MisuseError(`${named.kindName} have no phase`);
  return readValues("phase", texts, known);
}

async function readReasons(named: NamedKind, texts: readonly string[]): Promise<string> {
  const known = (await filterValues()).reasonValues(named);
  if (known === undefined) throw new MisuseError(`${named.kindName} have no reason`);
  return known.length === 0 ? texts.join() : readValues("reason", texts, known);
}

function readLanes({ kindName }: NamedKind, texts: readonly string[]): string {
  if (kindName !== "incidents") throw new MisuseError(`${kindName} have no lane`);
  return readValues("lane", texts, lanes);
}

async function targetFilter(
  { kindName }: NamedKind,
  text: string,
  { kinds: readKinds }: FilterContext,
): Promise<Predicate> {
  if (kindName === "workflows") throw new MisuseError(`${kindName} have no target`);
  const kinds = await readKinds();
  const parsed = parsePauseTarget(text, kinds);
  if (parsed.kind === "problem") throw new MisuseError(`the target "${text}" ${parsed.problem}`);
  return (object) => {
    if (kindName === "tasks") return isOn(pausableTask(object as CodingTask), parsed.text);
    const subject = kindName === "incidents" ? subjectText(object as RemediationRequest, kinds) : undefined;
    return subject === parsed.text || rowFacts(kindName, object).target === parsed.text;
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

/** The values of an option as the list spells them, with commas between them. Any case is accepted, and repetition. */
function readValues(option: string, texts: readonly string[], known: readonly string[]): string {
  const values = texts
    .flatMap((list) => list.split(","))
    .map((text) => {
      const found = known.find((value) => value.toLowerCase() === text.toLowerCase());
      if (found) return found;
      const meant = nearest(text, known);
      const hint = meant ? `did you mean ${meant}?` : `write one of ${known.join(", ")}`;
      throw new MisuseError(`unknown ${option} "${text}" (${hint})`);
    });
  return values.join();
}
