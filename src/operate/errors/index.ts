import { KubeError, type KubeErrorCode, type KubeObject } from "../../kube/index.ts";
import type { RemediationWorkflow } from "../../resources/index.ts";

/**
 * - `invalid`: the request itself is wrong; sending it again does not help
 * - `not-found`: an object that the request names does not exist
 * - `conflict`: the object is not, or no longer, in a state that allows the operation
 * - `forbidden`: the caller lacks a right
 * - `unavailable`: the API server did not respond; the same request with the same key may be sent again
 */
export type OperationErrorCode = "invalid" | "not-found" | "conflict" | "forbidden" | "unavailable";

interface ErrorFacts {
  /** One entry per problem, if there are several. */
  readonly details?: readonly string[];
  /** The next step of the caller, for display behind a semicolon. */
  readonly hint?: string;
  /** For a conflict: the current object. */
  readonly current?: KubeObject;
  readonly cause?: unknown;
}

/** An operation or explanation failed. Nothing was changed, unless the code is `unavailable`. */
export class OperationError extends Error {
  override readonly name = "OperationError";
  readonly code: OperationErrorCode;
  readonly details: readonly string[];
  readonly hint?: string;
  readonly current?: KubeObject;

  constructor(code: OperationErrorCode, message: string, { details = [], hint, current, cause }: ErrorFacts = {}) {
    super(message, { cause });
    this.code = code;
    this.details = details;
    if (hint !== undefined) this.hint = hint;
    if (current !== undefined) this.current = current;
  }
}

const codes: Readonly<Record<KubeErrorCode, OperationErrorCode>> = {
  unavailable: "unavailable",
  gone: "unavailable",
  aborted: "unavailable",
  forbidden: "forbidden",
  invalid: "invalid",
};

/** Converts an error of the API server to an error of the operation; returns any other error unchanged. */
export function toOperationError(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  return new OperationError(codes[error.code], error.message, { cause: error });
}

/** The error for a workflow that is not in the catalog. */
export function noWorkflow(workflowId: string, catalog: readonly RemediationWorkflow[]): OperationError {
  const known = [...new Set(catalog.map(({ spec }) => spec.workflowId))].sort();
  return new OperationError("not-found", `there is no workflow ${workflowId}`, {
    hint: `the catalog has ${known.join(", ") || "none yet"}`,
  });
}
