export { OperationError, type OperationErrorCode } from "./operation-error.ts";
export { toOperationError } from "./to-operation-error.ts";
