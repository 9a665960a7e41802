import { shortNames } from "../resources/short-names/index.ts";
import { readObjectName } from "./find/index.ts";
import type { OperationRequest } from "./request/index.ts";

/** An operation as a person would type it. */
export function commandLine(operation: string, request: OperationRequest): string {
  const { object, scope = [], workflow, target, parameters = {}, approval, block, dryRun, reason } = request;
  const { name, namespace = request.namespace } = object === undefined ? {} : readObjectName(object);
  const words = [
    "interlock",
    operation,
    ...[workflow, name && shortNames(name), ...scope].filter((word) => word !== undefined),
    ...option("--target", target),
    ...Object.entries(parameters).flatMap(([parameter, value]) => ["--param", `${parameter}=${value}`]),
    ...option("--approval", approval),
    ...option("--for", request.for),
    ...option("--namespace", namespace),
    ...(block ? ["--block"] : []),
    ...(dryRun ? ["--dry-run"] : []),
    // Joined, as a reason may begin with dashes.
    `--reason=${reason}`,
  ];
  return words.map(quoteWord).join(" ");
}

function option(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [name, value];
}

/** A word of a command line, in quotes if the shell would change it. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
