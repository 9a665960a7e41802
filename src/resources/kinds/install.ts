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

/** How to install one definition. */
export type CrdStep =
  | { readonly do: "create" | "update"; readonly name: string; readonly crd: CustomResourceDefinition }
  | { readonly do: "keep"; readonly name: string }
  /** Not ours, as when Kubernaut itself is installed, or being deleted. `because` is a sentence for display. */
  | { readonly do: "leave"; readonly name: string; readonly because: string }
  /** Written by a newer version: this one would misread the objects. */
  | { readonly do: "refuse"; readonly name: string; readonly because: string };

/** The step to install `ours` on a server that has `found`. A definition without our label is never overwritten. */
export function crdStep(ours: CustomResourceDefinition, found: CustomResourceDefinition | undefined): CrdStep {
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
  const [theirFormat, ourFormat] = [readCrdFormat(found), readCrdFormat(ours)];
  if (theirFormat > ourFormat) {
    const because = `${name} is in format ${theirFormat}, written by a newer version of Interlock; this version supports formats up to ${ourFormat}: start that version`;
    return { do: "refuse", name, because };
  }
  if (isDeepStrictEqual(found.spec, ours.spec) && theirFormat === ourFormat) return { do: "keep", name };
  // Labels and annotations of others stay. The resource version ensures that we replace the definition that we read.
  const annotations = { ...found.metadata.annotations, ...ours.metadata.annotations };
  return { do: "update", name, crd: { ...ours, metadata: { ...found.metadata, annotations } } };
}

/** A definition without the annotation has the first format. */
function readCrdFormat({ metadata }: CustomResourceDefinition): number {
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
    const step = crdStep(ours, found);
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
 * In a cluster the stages may only read definitions. During an upgrade, stages of one version start while the definitions of the
 * other are installed. Both versions can use them: their format is the same.
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
