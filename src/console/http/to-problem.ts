import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import { OperationError, type OperationErrorCode } from "../../operate/index.ts";
import { ProviderUnavailable } from "../identity/identity.ts";
import { RequestError } from "../projection/projection.ts";
import { toRow } from "../rows/index.ts";
import { ProblemError } from "./api-route.ts";

/** The problem that the caller receives for an error; undefined for an unexpected error. */
export function toProblem(error: unknown): ProblemError | undefined {
  if (error instanceof ProblemError) return error;
  if (error instanceof RequestError) return new ProblemError(400, error.message);
  if (error instanceof OperationError) return operationProblem(error);
  if (error instanceof KubeError) return kubeProblem(error);
  if (error instanceof ProviderUnavailable)
    return new ProblemError(503, "The identity provider does not respond. Log in again later.");
  if (error instanceof LedgerError) return new ProblemError(503, "The ledger cannot be read. Send the request again.");
  return undefined;
}

const statuses: Readonly<Record<OperationErrorCode, number>> = {
  invalid: 400,
  "not-found": 404,
  conflict: 409,
  forbidden: 403,
  unavailable: 503,
};

function operationProblem({ code, message, hint, details, current }: OperationError): ProblemError {
  const row = current && toRow(current);
  return new ProblemError(statuses[code], message, {
    ...(hint !== undefined && { hint }),
    ...(details.length > 0 && { problems: details }),
    ...(row && { current: row }),
  });
}

/** A refusal of the API server names the user and the missing right, which the caller may read. */
function kubeProblem({ code, message }: KubeError): ProblemError {
  if (code === "forbidden") return new ProblemError(403, message);
  if (code === "invalid") return new ProblemError(422, message);
  return new ProblemError(503, "The API server does not respond. Send the request again.");
}
