import { KubeError } from "../kube/index.ts";
import { OperationError } from "../operate/errors/index.ts";
import { CommandError, exitStatus } from "./command.ts";

/** An error of an operation or explanation, as commands report errors. Any other error is returned unchanged. */
export function toCommandError(error: unknown): unknown {
  if (!(error instanceof OperationError)) return error;
  if (error.cause instanceof KubeError) return error.cause;
  return new CommandError(operationErrorText(error), error.details);
}

/** The message, and what to do. */
export function operationErrorText({ message, hint }: OperationError): string {
  return hint === undefined ? message : `${message}; ${hint}`;
}

/** The exit status after an error. */
export function errorStatus(error: unknown): number {
  if (error instanceof CommandError) return exitStatus(error.exit);
  if (!(error instanceof KubeError)) return exitStatus("failed");
  return exitStatus(error.code === "unavailable" || error.code === "forbidden" ? error.code : "failed");
}
