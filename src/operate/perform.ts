import { shortNames } from "../resources/short-names/index.ts";
import { parse, type z } from "../schema/index.ts";
import { commandLine } from "./command-line.ts";
import type { Caller, OperateContext } from "./context.ts";
import { OperationError, toOperationError } from "./errors/index.ts";
import type { Operation, OperationResult } from "./operation.ts";
import { ack } from "./operations/ack.ts";
import { approve, reject } from "./operations/approve.ts";
import { cancel } from "./operations/cancel.ts";
import { pause } from "./operations/pause.ts";
import { resume } from "./operations/resume.ts";
import { retry } from "./operations/retry.ts";
import { run } from "./operations/run.ts";
import type { OperationName, OperationRequest } from "./request/index.ts";

const operations: Readonly<Record<OperationName, Operation>> = {
  ack,
  approve,
  reject,
  pause,
  resume,
  cancel,
  run,
  retry,
};

/** The schema of the requests for an operation. */
export function requestSchema(operation: OperationName): z.ZodType {
  return operations[operation].schema;
}

/** The effect of an operation. */
export interface OperationOutcome extends OperationResult {
  readonly notes: readonly string[];
  /** The same operation as a command line. */
  readonly command: string;
}

/**
 * Performs an operation with the rights of `context.client`. The same request, with the same key of the same caller, may be
 * sent any number of times and to any replica: it has its effect once. Throws OperationError.
 */
export async function perform(
  operation: OperationName,
  request: OperationRequest,
  caller: Caller,
  context: OperateContext,
): Promise<OperationOutcome> {
  const parsed = parse(operations[operation].schema, request);
  if (parsed.kind === "invalid") {
    const details = parsed.problems.map(({ sentence }) => sentence);
    throw new OperationError("invalid", `the request for ${operation} is invalid:`, { details });
  }
  const valid = parsed.value as OperationRequest;
  try {
    const { message, notes = [], ...result } = await operations[operation].perform({ request: valid, caller, context });
    return {
      ...result,
      message: shortNames(message),
      notes: valid.dryRun ? [...notes, "this was a dry run: nothing was changed"] : notes,
      command: commandLine(operation, valid),
    };
  } catch (error) {
    throw toOperationError(error);
  }
}
