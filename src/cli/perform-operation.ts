import {
  OperationError,
  type OperationName,
  type OperationOutcome,
  type OperationRequest,
  perform,
} from "../operate/index.ts";
import { shortNames } from "../resources/short-names/index.ts";
import { CommandError, MisuseError, type ServerContext } from "./command.ts";
import { operatorName } from "./operator-name.ts";
import { operationErrorText } from "./to-command-error.ts";

/** The fields of a request. Without a key, each command is a request of its own. */
export type RequestFields = { readonly [Field in keyof OperationRequest]?: OperationRequest[Field] | undefined };

/** Performs an operation in the operator's name, and prints its effect. */
export async function performOperation(
  operation: OperationName,
  fields: RequestFields,
  context: ServerContext,
): Promise<OperationOutcome> {
  const caller = { name: await operatorName(context), via: "command line" };
  const set = Object.entries({ key: context.random.id(), ...fields }).filter(([, value]) => value !== undefined);
  const request = Object.fromEntries(set) as unknown as OperationRequest;
  try {
    const outcome = await perform(operation, request, caller, context);
    for (const line of [outcome.message, ...outcome.notes]) context.terminal.print(shortNames(line));
    return outcome;
  } catch (error) {
    const isMisuse = error instanceof OperationError && error.code === "invalid" && error.cause === undefined;
    throw isMisuse ? toMisuse(error) : error;
  }
}

/** Several problems are printed on lines of their own, without the help. */
function toMisuse(error: OperationError): CommandError {
  const text = operationErrorText(error);
  return error.details.length === 0 ? new MisuseError(text) : new CommandError(text, error.details, "misuse");
}
