import { isDeepStrictEqual } from "node:util";
import { type Call, type KubeClient, KubeError } from "../../kube/index.ts";
import { managedBy } from "../names.ts";
import { type CustomResourceDefinition, customResourceDefinitions, toCrd } from "./crd.ts";
import { resourceKinds } from "./resource-kinds.ts";

/** What to do about one definition. */
export type CrdStep =
  | { readonly do: "create" | "update"; readonly name: string; readonly crd: CustomResourceDefinition }
  | { readonly do: "keep"; readonly name: string }
  /** Not ours, as when a real Kubernaut is installed, or on its way out. `because` is a sentence for people. */
  | { readonly do: "leave"; readonly name: string; readonly because: string };

/** How `ours` get onto a server that has `existing`. What does not carry our label is never overwritten. */
export function crdsToInstall(
  existing: readonly CustomResourceDefinition[],
  ours: readonly CustomResourceDefinition[],
): CrdStep[] {
  const byName = new Map(existing.map((crd) => [crd.metadata.name, crd]));
  return ours.map((crd) => stepFor(crd, byName.get(crd.metadata.name)));
}

function stepFor(ours: CustomResourceDefinition, found: CustomResourceDefinition | undefined): CrdStep {
  const name = nameOf(ours);
  if (!found) return { do: "create", name, crd: ours };

  if (found.metadata.labels?.[managedBy.label] !== managedBy.value) {
    const label = `${managedBy.label}: ${managedBy.value}`;
    const because = `${name} exists without the label "${label}", so Interlock does not change it: required fields may be missing`;
    return { do: "leave", name, because };
  }
  if (found.metadata.deletionTimestamp) {
    return {
      do: "leave",
      name,
      because: `${name} is being deleted, with all its objects: start again when it is gone`,
    };
  }
  if (isDeepStrictEqual(found.spec, ours.spec)) return { do: "keep", name };
  // Other people's labels and annotations stay, and the version makes sure that we replace what we looked at.
  return { do: "update", name, crd: { ...ours, metadata: found.metadata } };
}

/** Creates missing definitions and updates ours. Safe to repeat, and on any number of replicas at once. */
export async function installCrds(client: KubeClient, call: Call = {}): Promise<readonly CrdStep[]> {
  return Promise.all(resourceKinds.map((kind) => install(toCrd(kind), client, call)));
}

async function install(ours: CustomResourceDefinition, client: KubeClient, call: Call): Promise<CrdStep> {
  const name = nameOf(ours);
  for (let look = 1; look <= 10; look++) {
    const found = await client.get(customResourceDefinitions, { name }, call);
    const step = stepFor(ours, found);
    if (await perform(step, client, call)) return step;
  }
  throw new KubeError(
    "unavailable",
    `${name} changed each time it was about to be updated: does another version run too?`,
  );
}

/** False if another process was faster; the next attempt reads its result. */
async function perform(step: CrdStep, client: KubeClient, call: Call): Promise<boolean> {
  switch (step.do) {
    case "create":
      return (await client.create(customResourceDefinitions, step.crd, call)).kind === "created";
    case "update":
      return (await client.update(customResourceDefinitions, step.crd, call)).kind === "updated";
    case "keep":
    case "leave":
      return true;
  }
}

function nameOf(crd: CustomResourceDefinition): string {
  return crd.metadata.name as string;
}
