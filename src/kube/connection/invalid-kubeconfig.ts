import { KubeError } from "../client.ts";

/** A kubeconfig that cannot be used, and why. */
export function invalid(problem: string, cause?: unknown): KubeError {
  return new KubeError("invalid", `kubeconfig: ${problem}`, { cause });
}
