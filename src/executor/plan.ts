import {
  checkParameters,
  type Engine as EngineName,
  fitsTarget,
  type Kinds,
  type ObjectTarget,
  type ParameterValue,
  parseTarget,
  type RemediationWorkflow,
  type WorkflowExecution,
} from "../resources/index.ts";
import { parseDuration } from "../time/index.ts";

/** What an execution means, once its spec has been read against the catalog and the configuration. */
export type Plan = ValidPlan | InvalidPlan;

export interface ValidPlan {
  readonly kind: "valid";
  readonly target: ObjectTarget;
  readonly engine: EngineName;
  readonly pipeline: string;
  readonly serviceAccountName: string | undefined;
  /** Complete: defaults are filled in. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  readonly timeoutMs: number;
  readonly cooldownMs: number;
  readonly observe: boolean;
}

/** Nothing can be run. With a target the failure still belongs into its record. */
export interface InvalidPlan {
  readonly kind: "invalid";
  readonly target: ObjectTarget | undefined;
  readonly problem: string;
}

/** What the configuration says where neither the execution nor its workflow says anything. */
export interface PlanDefaults {
  /** The engines that are set up here. */
  readonly engines: ReadonlySet<EngineName>;
  readonly engine: EngineName;
  readonly serviceAccountName: string | undefined;
  readonly timeoutMs: number;
  readonly cooldownMs: number;
}

/** Reads the spec of an execution. `entry` is its workflow in the catalog: without one, the spec alone has to do. */
export function planOf(
  { spec }: WorkflowExecution,
  { entry, kinds, defaults }: { entry: RemediationWorkflow | undefined; kinds: Kinds; defaults: PlanDefaults },
): Plan {
  const read = parseTarget(spec.targetResource, kinds);
  if (read.kind === "problem") return invalid(undefined, `targetResource "${spec.targetResource}" ${read.problem}`);
  if (read.target.type !== "object") {
    return invalid(
      undefined,
      `targetResource "${spec.targetResource}" is a repository: workflows run on Kubernetes objects`,
    );
  }
  const { target } = read;
  const workflow = entry?.spec;
  if (workflow && !fitsTarget(workflow, target, kinds)) {
    const fits = workflow.targetKinds?.join(", ");
    return invalid(target, `workflow ${workflow.workflowId} is not for a ${target.kind}: it fits ${fits}`);
  }
  const engine = spec.workflowRef.engine ?? workflow?.engine ?? defaults.engine;
  if (!defaults.engines.has(engine)) {
    return invalid(target, `engine ${engine} is not set up here: there is ${[...defaults.engines].join(", ")}`);
  }
  const parameters = parametersOf(spec.parameters ?? {}, workflow);
  if (parameters.kind === "invalid") return invalid(target, parameters.problems.join("; "));

  return {
    kind: "valid",
    target,
    engine,
    pipeline: workflow?.pipeline ?? "workflow",
    serviceAccountName:
      spec.workflowRef.serviceAccountName ?? workflow?.serviceAccountName ?? defaults.serviceAccountName,
    parameters: parameters.parameters,
    timeoutMs: durationOr(workflow?.timeout, defaults.timeoutMs),
    cooldownMs: durationOr(workflow?.cooldown, defaults.cooldownMs),
    observe: workflow?.observe ?? false,
  };
}

/** Without a catalog entry nobody can say what the workflow takes. */
function parametersOf(
  given: Readonly<Record<string, ParameterValue>>,
  workflow: RemediationWorkflow["spec"] | undefined,
) {
  return workflow ? checkParameters(workflow.parameters, given) : { kind: "valid" as const, parameters: given };
}

function invalid(target: ObjectTarget | undefined, problem: string): InvalidPlan {
  return { kind: "invalid", target, problem };
}

function durationOr(text: string | undefined, otherwiseMs: number): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? otherwiseMs;
}
