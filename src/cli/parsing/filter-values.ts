import { type Kind, ourCrds, type StructuralSchema, stallReasons } from "../../resources/index.ts";
import type { KindName, NamedKind } from "./kinds.ts";

/** Where the schema of a kind lists the values that filters accept. */
interface FilterFields {
  /** Field of the status with the phase. */
  readonly phase?: string;
  /** The phase of an object without a status. */
  readonly initial?: string;
  /** Fields of the status with a reason for the phase. */
  readonly reasons?: readonly string[];
}

const filterFields: Readonly<Record<KindName, FilterFields>> = {
  incidents: { phase: "phase", initial: "Pending", reasons: ["block.reason", "outcome"] },
  executions: { phase: "phase", initial: "Pending", reasons: ["skipDetails.reason", "failureDetails.reason"] },
  targets: {},
  workflows: { phase: "catalogStatus" },
  pauses: {},
  approvals: { phase: "decision", initial: "Pending" },
  notices: { phase: "phase", initial: "Pending" },
  tasks: { phase: "phase", initial: "Pending", reasons: ["failure.reason", "reason"] },
};

/** The phases that objects of a kind may be in; undefined if they have none. */
export function phaseValues({ kindName, kind }: NamedKind): readonly string[] | undefined {
  if (kindName === "pauses") return ["Active", "Ended"];
  const { phase, initial } = filterFields[kindName];
  if (phase === undefined) return undefined;
  return [...new Set([...(initial ? [initial] : []), ...enumValues(kind, phase)])];
}

/**
 * The reasons that objects of a kind may have, as tables show them; undefined if they have none. The list is empty for a kind
 * whose reasons are an open list.
 */
export function reasonValues({ kindName, kind }: NamedKind): readonly string[] | undefined {
  const { reasons } = filterFields[kindName];
  if (reasons === undefined) return undefined;
  const known = reasons.flatMap((field) => enumValues(kind, field));
  // A wait after failures is a Backoff in tables, and RecentlyRemediated in the object.
  return known.length === 0 ? [] : [...new Set([...known, "Backoff", ...stallReasons])];
}

/** The words that a field of the status may have, as the kind's schema lists them. */
function enumValues(kind: Kind, field: string): readonly string[] {
  const crd = ourCrds().find(({ spec }) => spec.names.kind === kind.kind);
  let schema: StructuralSchema | undefined = crd?.spec.versions[0]?.schema?.openAPIV3Schema;
  for (const name of ["status", ...field.split(".")]) schema = schema?.properties?.[name];
  return (schema?.enum ?? []).map(String);
}
