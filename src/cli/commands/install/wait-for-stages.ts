import { type KubeObject, refOf } from "../../../kube/index.ts";
import { releaseKind } from "../../../manifests/index.ts";
import { sleep } from "../../../time/index.ts";
import { CommandError, type ServerContext } from "../../command.ts";
import { describeObject } from "./plan.ts";

interface Deployment extends KubeObject {
  readonly spec: { readonly replicas: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

const pollIntervalMs = 500;

/** Resolves when every Deployment runs the applied version with all its replicas. Throws CommandError after `withinMs`. */
export async function waitForStages(
  objects: readonly KubeObject[],
  { client, terminal, clock }: ServerContext,
  withinMs: number,
): Promise<void> {
  const until = clock.now() + withinMs;
  const stages = objects.filter(({ kind }) => kind === "Deployment");
  let waiting = stages;
  while (waiting.length > 0) {
    const problems: string[] = [];
    const still: KubeObject[] = [];
    for (const object of waiting) {
      const problem = rolloutProblem((await client.get(releaseKind(object), refOf(object))) as Deployment | undefined);
      if (problem === undefined) terminal.print(`${describeObject(object)} available`);
      else {
        still.push(object);
        problems.push(`${describeObject(object)}: ${problem}`);
      }
    }
    waiting = still;
    if (waiting.length === 0) break;
    const available = stages.length - waiting.length;
    terminal.progress.show(`${available} of ${stages.length} stages are available; ${problems.join("; ")}`);
    if (clock.now() >= until) throw new CommandError("stages are not available; see kubectl describe pods:", problems);
    await sleep(clock, pollIntervalMs);
  }
  terminal.progress.clear();
}

/** Why a Deployment is not rolled out yet; undefined if it is. */
function rolloutProblem(found: Deployment | undefined): string | undefined {
  if (!found) return "it was deleted";
  const { metadata, spec, status = {} } = found;
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = status;
  if (observedGeneration < (metadata.generation ?? 0)) return "the cluster has not observed it yet";
  const ready = Math.min(updatedReplicas, availableReplicas);
  if (ready >= spec.replicas) return undefined;
  const reason = conditions.find(({ type, status }) => type === "Progressing" && status === "False")?.message;
  return `${ready} of ${spec.replicas} replicas are available${reason === undefined ? "" : `: ${reason}`}`;
}
