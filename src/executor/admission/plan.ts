import {
  type CatalogLookup,
  catalogDifference,
  checkParameters,
  type Engine as EngineName,
  type Kinds,
  type ObjectTarget,
  type ParameterValue,
  parseTarget,
  type RemediationWorkflow,
  targetKindProblem,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { parseDuration } from "../../time/index.ts";

/** The meaning of an execution: its spec combined with the catalog and the configuration. */
export type Plan = ValidPlan | InvalidPlan;

export interface ValidPlan {
  readonly kind: "valid";
  readonly target: ObjectTarget;
  /** The catalog entry of the workflow; undefined for a workflow outside the catalog, where that is allowed. */
  readonly entry: RemediationWorkflow | undefined;
  /** Whether an operator has to approve each run. */
  readonly requiresApproval: boolean;
  readonly engine: EngineName;
  readonly containerImage: string;
  readonly args: readonly string[] | undefined;
  readonly version: string | undefined;
  readonly pipeline: string;
  readonly serviceAccountName: string | undefined;
  /** All parameters, defaults included. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  readonly timeoutMs: number;
  readonly cooldownMs: number;
  readonly observe: boolean;
}

/** An execution that cannot run. If it has a target, the target's record keeps the failure. */
export interface InvalidPlan {
  readonly kind: "invalid";
  readonly target: ObjectTarget | undefined;
  readonly problem: string;
  /** Whether the target is missing because its kind is unknown. */
  readonly unknownKind?: true;
}

/** The settings that apply where the catalog has none. */
export interface PlanDefaults {
  /** The configured engines. */
  readonly engines: ReadonlySet<EngineName>;
  readonly engine: EngineName;
  readonly serviceAccountName: string | undefined;
  readonly timeoutMs: number;
  readonly cooldownMs: number;
  /** Whether a workflow that is not in the catalog may run as the execution describes it. */
  readonly allowOutsideCatalog: boolean;
}

/** The target of an execution, or why it has none. */
export type TargetPlan = { readonly kind: "target"; readonly target: ObjectTarget } | InvalidPlan;

/** Parses the target of an execution. */
export function planTarget({ spec }: WorkflowExecution, kinds: Kinds): TargetPlan {
  const read = parseTarget(spec.targetResource, kinds);
  if (read.kind === "problem") {
    const plan = invalid(undefined, `targetResource "${spec.targetResource}" ${read.problem}`);
    return read.unknownKind ? { ...plan, unknownKind: true } : plan;
  }
  if (read.target.type === "object") return { kind: "target", target: read.target };
  const problem = `targetResource "${spec.targetResource}" is a repository: workflows run on Kubernetes objects`;
  return invalid(undefined, problem);
}

interface PlanContext {
  readonly target: ObjectTarget;
  readonly found: CatalogLookup;
  readonly kinds: Kinds;
  readonly defaults: PlanDefaults;
}

/** Plans an execution. The catalog, not the execution, determines the workload, its engine and its service account. */
export function planExecution({ spec }: WorkflowExecution, { target, found, kinds, defaults }: PlanContext): Plan {
  const { workflowId } = spec.workflowRef;
  if (found.kind === "unusable") return invalid(target, found.problem);
  if (found.kind === "unknown" && !defaults.allowOutsideCatalog) {
    return invalid(target, `workflow ${workflowId} is not in the catalog: add it as a RemediationWorkflow`);
  }
  const entry = found.kind === "entry" ? found.entry : undefined;
  const difference = entry && catalogDifference(spec.workflowRef, entry, defaults);
  if (difference !== undefined) return invalid(target, difference);
  const workflow = entry?.spec ?? spec.workflowRef;
  const refusal = entry && targetKindProblem(entry.spec, target, kinds);
  if (refusal !== undefined) return invalid(target, refusal);
  const engine = workflow.engine ?? defaults.engine;
  if (!defaults.engines.has(engine)) {
    return invalid(target, `engine ${engine} is not set up here: there is ${[...defaults.engines].join(", ")}`);
  }
  // Without an entry, the parameters of the workflow are unknown.
  const given = spec.parameters ?? {};
  const checked = entry ? checkParameters(entry.spec.parameters, given) : { kind: "valid" as const, parameters: given };
  if (checked.kind === "invalid") return invalid(target, checked.problems.join("; "));

  return {
    kind: "valid",
    target,
    entry,
    requiresApproval: found.kind === "entry" && found.requiresApproval,
    engine,
    containerImage: workflow.containerImage,
    args: entry?.spec.args,
    version: workflow.version,
    pipeline: entry?.spec.pipeline ?? "workflow",
    serviceAccountName: workflow.serviceAccountName ?? defaults.serviceAccountName,
    parameters: checked.parameters,
    timeoutMs: durationOr(entry?.spec.timeout, defaults.timeoutMs),
    cooldownMs: durationOr(entry?.spec.cooldown, defaults.cooldownMs),
    observe: entry?.spec.observe ?? false,
  };
}

function invalid(target: ObjectTarget | undefined, problem: string): InvalidPlan {
  return { kind: "invalid", target, problem };
}

function durationOr(text: string | undefined, otherwiseMs: number): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? otherwiseMs;
}
