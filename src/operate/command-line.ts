import { shortNames } from "../resources/short-names/index.ts";
import { readObjectName } from "./find/index.ts";
import type { OperationRequest } from "./request/index.ts";

/** The command line that performs the same operation. */
export function commandLine(operation: string, request: OperationRequest): string {
  const { object, scope = [], workflow, target, parameters = {}, approval, block, dryRun, reason } = request;
  const { name, namespace = request.namespace } = object === undefined ? {} : readObjectName(object);
  const args = [
    "interlock",
    operation,
    ...[workflow, name && shortNames(name), ...scope].filter((arg) => arg !== undefined),
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
  return args.map(quote).join(" ");
}

function option(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [name, value];
}

/** An argument, in quotes if the shell would change it. */
function quote(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`;
}
