import { type KubeClient, KubeError, type KubeObject, refOf } from "../../../kube/index.ts";
import { releaseKind } from "../../../manifests/index.ts";
import { waitUntilEstablished } from "../../../resources/index.ts";
import { CommandError, type ServerContext } from "../../command.ts";
import { describeObject, type ObjectStep, objectKey, planObject } from "./plan.ts";

/** Whether the steps are only printed, and whether each changed field is printed, too. */
export interface ApplyMode {
  readonly isDryRun: boolean;
  readonly changes: boolean;
}

/** Reads every object and plans its step. Throws CommandError, and changes nothing, if a step has to be refused. */
export async function planAll(client: KubeClient, desired: readonly KubeObject[]): Promise<readonly ObjectStep[]> {
  const live = await Promise.all(desired.map((object) => client.get(releaseKind(object), refOf(object))));
  const steps = desired.map((object, i) => planObject(object, live[i]));
  const refused = steps.flatMap((step) => (step.do === "refuse" ? [step.because] : []));
  if (refused.length > 0) throw new CommandError("nothing was changed; fix these problems first:", refused);
  return steps;
}

/** The objects that the version before had and this one does not, last created first. */
export function planRemoval(before: readonly KubeObject[], after: readonly KubeObject[]): readonly ObjectStep[] {
  const kept = new Set(after.map(objectKey));
  const gone = before.filter((object) => !kept.has(objectKey(object)));
  return gone.reverse().map((object) => ({ do: "delete", object }));
}

/** Performs the steps in order, and prints one line for each. A command that was interrupted may be repeated. */
export async function performAll(
  steps: readonly ObjectStep[],
  { client, terminal, clock }: ServerContext,
  mode: ApplyMode,
): Promise<void> {
  for (const [i, step] of steps.entries()) {
    terminal.progress.show(`${i} of ${steps.length} objects done, next ${describeObject(step.object)}`);
    if (!mode.isDryRun) await perform(step, { client, clock });
    terminal.print(`${describeObject(step.object)} ${mode.isDryRun ? planned[step.do] : done[step.do]}`);
    if (step.do === "leave") terminal.print(`  ${step.because}`);
    if (mode.changes && step.do === "update") for (const line of step.changes) terminal.print(`  ${line}`);
  }
  terminal.progress.clear();
}

const done: Readonly<Record<ObjectStep["do"], string>> = {
  create: "created",
  update: "updated",
  keep: "unchanged",
  leave: "left alone",
  refuse: "refused",
  delete: "deleted",
};

const planned: Readonly<Record<ObjectStep["do"], string>> = {
  ...done,
  create: "would be created",
  update: "would be updated",
  delete: "would be deleted",
};

const maxAttempts = 10;

type Server = Pick<ServerContext, "client" | "clock">;

/** Plans again if another writer has changed the object. */
async function perform(first: ObjectStep, server: Server): Promise<void> {
  let step = first;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    if (await performOnce(step, server)) return;
    if (first.do !== "delete") [step = first] = await planAll(server.client, [first.object]);
  }
  throw new KubeError("unavailable", `${describeObject(first.object)} changed each time it was about to be changed`);
}

/** False if the object has changed since the step was planned. */
async function performOnce(step: ObjectStep, { client, clock }: Server): Promise<boolean> {
  const type = releaseKind(step.object);
  switch (step.do) {
    case "create": {
      if ((await client.create(type, step.manifest)).kind !== "created") return false;
      // The stages cannot start before the server serves their kinds.
      if (step.object.kind === "CustomResourceDefinition" && !(await waitUntilEstablished(client, step.object, clock)))
        throw new CommandError(`${describeObject(step.object)} is not established; repeat the command`);
      return true;
    }
    case "update":
      return (await client.patch(type, refOf(step.object), { merge: step.patch })).kind === "updated";
    case "delete":
      return (await client.delete(type, refOf(step.object), { propagation: "Background" })).kind !== "conflict";
    case "keep":
    case "leave":
    case "refuse":
      return true;
  }
}
