import type { KubeClient, KubeObject, ResourceType } from "../kube/index.ts";
import type { ObjectTarget, ParameterValue, RemediationWorkflowSpec } from "../resources/index.ts";
import type { IssueDraft, IssueProject } from "./issues/issue-tracker.ts";

/** The description of a ready-made action, for the catalog, the roles, the documentation and the runner. */
export interface ActionDescription {
  /** Id of the workflow and name of its folder. */
  readonly name: string;
  readonly version: string;
  /** Begins with a verb in the third person: "Restarts …". */
  readonly description: string;
  /** The condition that a successful action has checked, as a sentence without its full stop. */
  readonly verification: string;
  /** The kinds of target, as in a workflow; any kind if absent. */
  readonly targetKinds?: readonly string[];
  /** Besides those of every action. */
  readonly parameters: ParameterSchema["properties"];
  /** Names of the parameters that have no default. */
  readonly required?: readonly string[];
  readonly rights: readonly Right[];
  /** Alerts of kube-prometheus that the rule pack answers with the action. */
  readonly alerts: readonly string[];
  readonly cooldown: string;
}

export type ParameterSchema = NonNullable<RemediationWorkflowSpec["parameters"]>;

/** Verbs that an action needs on a resource, such as `pods/eviction`. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly ("get" | "list" | "create" | "update" | "delete")[];
  /** In the namespace of the target, in that of runs, in all namespaces, or on objects that have no namespace. */
  readonly where: "target" | "runs" | "everywhere" | "cluster";
  /** Only for a target of this kind. */
  readonly onlyFor?: string;
  /** Only the object with this name. */
  readonly name?: string;
}

/** The inputs of one run. */
export interface ActionInputs {
  readonly target: ObjectTarget;
  readonly executionUid: string;
  readonly fence: bigint;
  /** Complete and checked. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  /** The API server's time when the cluster was observed. */
  readonly nowMs: number;
}

/**
 * The next step of an action. `decide` is called again after every step, with the state at that time: an action that is
 * repeated after a crash continues where the earlier run ended.
 */
export type Decision =
  | { readonly kind: "write"; readonly writes: readonly Write[] }
  | { readonly kind: "wait"; readonly message: string }
  /** Verified. */
  | { readonly kind: "done"; readonly message: string }
  | { readonly kind: "refuse"; readonly message: string };

/** A write to the object that was observed: if it has changed since, nothing is written and `decide` is called again. */
export type Write = { readonly text: string } & (
  | { readonly do: "update"; readonly type: ResourceType; readonly observed: KubeObject; readonly next: KubeObject }
  | { readonly do: "create"; readonly type: ResourceType; readonly object: KubeObject }
  | { readonly do: "delete"; readonly type: ResourceType; readonly observed: KubeObject; readonly force?: boolean }
  | { readonly do: "evict"; readonly observed: KubeObject }
  | { readonly do: "open-issue"; readonly project: IssueProject; readonly draft: IssueDraft }
);

/** The state that an action reads before it decides. */
export interface ActionSnapshot {
  readonly target: KubeObject | undefined;
}

/** The calls with which an action reads its snapshot. */
export interface Reader extends Pick<KubeClient, "get" | "list"> {
  /** The address of the open issue with the label `marker`. */
  findIssue(project: IssueProject, marker: string): Promise<string | undefined>;
}

/** An action that can be run. */
export interface Action extends ActionDescription {
  look(inputs: ActionInputs, reader: Reader): Promise<Look>;
}

export interface Look extends ActionSnapshot {
  readonly decision: Decision;
}

/** An action made of reading (`observe`) and a pure function (`decide`). */
export function defineAction<S extends ActionSnapshot>({
  observe,
  decide,
  ...description
}: ActionDescription & {
  readonly observe: (inputs: ActionInputs, reader: Reader) => Promise<S>;
  readonly decide: (snapshot: S, inputs: ActionInputs) => Decision;
}): Action {
  return {
    ...description,
    async look(inputs, reader) {
      const snapshot = await observe(inputs, reader);
      return { target: snapshot.target, decision: decide(snapshot, inputs) };
    },
  };
}

export function refuse(message: string): Decision {
  return { kind: "refuse", message };
}

export function wait(message: string): Decision {
  return { kind: "wait", message };
}

export function done(message: string): Decision {
  return { kind: "done", message };
}

export function write(...writes: readonly Write[]): Decision {
  return { kind: "write", writes };
}
