import { KubeError } from "../kube/index.ts";
import { CommandError } from "./command.ts";
import { exitStatus } from "./exit-status.ts";

/** The exit status after an error. */
export function errorStatus(error: unknown): number {
  if (error instanceof CommandError) return exitStatus(error.exit);
  if (!(error instanceof KubeError)) return exitStatus("failed");
  return exitStatus(error.code === "unavailable" || error.code === "forbidden" ? error.code : "failed");
}
