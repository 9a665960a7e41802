import type { OperationName, OperationRequest, OperationResult, Row } from "../../src/console/wire.ts";
import { ApiError, postJson } from "./api.ts";
import { rowChanges } from "./operations.ts";

/** Performs an operation. Repeats it after a conflict if nothing relevant has changed since the caller saw the row `seen`. */
export async function performOperation(
  operation: OperationName,
  request: OperationRequest,
  seen: Row | undefined,
): Promise<OperationResult> {
  const path = `/operations/${operation}`;
  try {
    return await postJson<OperationResult>(path, request);
  } catch (error) {
    const current = error instanceof ApiError && error.status === 409 ? error.problem.current : undefined;
    if (!current || !seen || rowChanges(seen, current).length > 0) throw error;
    return await postJson<OperationResult>(path, { ...request, ifVersion: current.version });
  }
}
