export { noWorkflow, OperationError, type OperationErrorCode, toOperationError } from "./operation-error.ts";
