import { KubeError, type KubeErrorCode } from "../../kube/index.ts";
import { OperationError, type OperationErrorCode } from "./operation-error.ts";

const codes: Readonly<Record<KubeErrorCode, OperationErrorCode>> = {
  unavailable: "unavailable",
  gone: "unavailable",
  aborted: "unavailable",
  forbidden: "forbidden",
  invalid: "invalid",
};

/** An error of the API server as an error of the operation; any other error is returned as it is. */
export function toOperationError(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  return new OperationError(codes[error.code], error.message, { cause: error });
}
