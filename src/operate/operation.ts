import type { KubeObject } from "../kube/index.ts";
import type { Wire, z } from "../schema/index.ts";
import type { Caller, OperateContext } from "./context.ts";

/** One operation: the schema of its request, and its effect. */
export interface Operation<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  perform(call: OperationCall<Wire<S>>): Promise<OperationResult>;
}

/** A valid request, with its caller and context. */
export interface OperationCall<Request> {
  readonly request: Request;
  readonly caller: Caller;
  readonly context: OperateContext;
}

/** The kinds of objects that operations change or create. */
export type ChangedKind = "incidents" | "executions" | "approvals" | "pauses" | "tasks" | "targets";

/** The effect of an operation: the same for each repetition of a request. */
export interface OperationResult {
  /** The effect in one sentence without its full stop. */
  readonly message: string;
  /** Further information for the caller, one sentence each. */
  readonly notes?: readonly string[];
  readonly kind?: ChangedKind;
  /** The object that was changed or created: NAMESPACE/NAME. */
  readonly object?: string;
}

/** Declares an operation; its schema types its request. */
export function defineOperation<S extends z.ZodType>(operation: Operation<S>): Operation {
  return operation as unknown as Operation;
}

/** NAMESPACE/NAME of an object. */
export function objectKey({ metadata: { namespace = "", name = "" } }: KubeObject): string {
  return `${namespace}/${name}`;
}

/** The verb of a message: a dry run has no effect. */
export function isOrWouldBe({ request }: OperationCall<{ readonly dryRun?: boolean }>): "is" | "would be" {
  return request.dryRun ? "would be" : "is";
}
