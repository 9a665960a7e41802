import { isDeepStrictEqual } from "node:util";
import {
  type Call,
  type CustomResourceDefinition,
  customResourceDefinitions,
  type KubeClient,
  KubeError,
} from "../../kube/index.ts";
import { annotationKeys, managedBy } from "../names.ts";
import { ourCrds } from "./our-crds.ts";

/** What to do about one definition. */
export type CrdStep =
  | { readonly do: "create" | "update"; readonly name: string; readonly crd: CustomResourceDefinition }
  | { readonly do: "keep"; readonly name: string }
  /** Not ours, as when a real Kubernaut is installed, or on its way out. `because` is a sentence for people. */
  | { readonly do: "leave"; readonly name: string; readonly because: string }
  /** A newer version has written it, and this one would misread the objects. */
  | { readonly do: "refuse"; readonly name: string; readonly because: string };

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
  const [theirFormat, ourFormat] = [crdFormatOf(found), crdFormatOf(ours)];
  if (theirFormat > ourFormat) {
    const because = `${name} is in format ${theirFormat}, written by a newer version of Interlock; this version supports formats up to ${ourFormat}: start that version`;
    return { do: "refuse", name, because };
  }
  if (isDeepStrictEqual(found.spec, ours.spec) && theirFormat === ourFormat) return { do: "keep", name };
  // Other people's labels and annotations stay, and the version ensures that we replace the definition that we read.
  const annotations = { ...found.metadata.annotations, ...ours.metadata.annotations };
  return { do: "update", name, crd: { ...ours, metadata: { ...found.metadata, annotations } } };
}

/** Definitions from before formats were recorded are in the first. */
function crdFormatOf({ metadata }: CustomResourceDefinition): number {
  return Number(metadata.annotations?.[annotationKeys.format] ?? 1);
}

/** Creates missing definitions and updates ours. Safe to repeat, and on any number of replicas at once. */
export async function installCrds(client: KubeClient, call: Call = {}): Promise<readonly CrdStep[]> {
  return Promise.all(ourCrds().map((crd) => install(crd, client, call)));
}

async function install(ours: CustomResourceDefinition, client: KubeClient, call: Call): Promise<CrdStep> {
  const name = nameOf(ours);
  for (let look = 1; look <= 10; look++) {
    const found = await client.get(customResourceDefinitions, { name }, call);
    const step = stepFor(ours, found);
    const done = await perform(step, client, call).catch((error: unknown) => leaveForbidden(step, error));
    if (typeof done === "object") return done;
    if (done) return step;
  }
  throw new KubeError(
    "unavailable",
    `${name} changed each time it was about to be updated: does another version run too?`,
  );
}

/**
 * In a cluster the stages may only read definitions. While it is upgraded, those of one version start beside the definitions of
 * the other, and both can work with them: their format is the same.
 */
function leaveForbidden(step: CrdStep, error: unknown): CrdStep {
  if (step.do !== "update" || !(error instanceof KubeError) || error.code !== "forbidden") throw error;
  const { name } = step;
  const because = `${name} is that of another version, and this process may not change it: run interlock upgrade, unless an upgrade is in progress`;
  return { do: "leave", name, because };
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
    case "refuse":
      return true;
  }
}

function nameOf(crd: CustomResourceDefinition): string {
  return crd.metadata.name as string;
}
