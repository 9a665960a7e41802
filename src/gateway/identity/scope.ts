import type { KubeObject } from "../../kube/index.ts";
import { labelKeys, type ObjectReference, type ObjectTarget, toObjectTarget } from "../../resources/index.ts";
import type { Objects } from "./objects.ts";
import type { Owner } from "./owners.ts";

/** Whether signals about an object may open incidents. */
export type Scope = { readonly in: true } | { readonly in: false; readonly because: string; readonly fix: string };

export type ScopeOf = (owner: Owner) => Promise<Scope>;

export const everythingInScope: ScopeOf = async () => ({ in: true });

/** Scope by opt-in: the label on the object decides, then the one on its namespace; without either it is out of scope. */
export function scopeByLabel(objects: Objects): ScopeOf {
  return async ({ target, reference }) => {
    // Throws if it may not be read: its own label may exclude it, so the namespace must not decide alone.
    const object = await objects.get(target, reference);
    const own = managedLabel(object);
    if (own === "true") return { in: true };
    if (own === "false") return out(target, `${target.text} has the label ${labelKeys.managed}=false`);
    if (target.namespace === undefined) {
      return object
        ? out(target, `${target.text} is without the label ${labelKeys.managed}=true`)
        : missingScope(target);
    }

    const space = await readNamespace(target.namespace, objects);
    if (managedLabel(space) === "true") return { in: true };
    if (managedLabel(space) === "false") {
      return out(target, `the namespace ${target.namespace} has the label ${labelKeys.managed}=false`);
    }
    if (!object) {
      const because = `${target.text} does not exist, and its namespace is without the label ${labelKeys.managed}=true`;
      return { in: false, because, fix: labelCommand(`namespace ${target.namespace}`) };
    }
    return out(target, `neither ${target.text} nor its namespace has the label ${labelKeys.managed}=true`);
  };
}

async function readNamespace(name: string, objects: Objects): Promise<KubeObject | undefined> {
  const reference: ObjectReference = { kind: "Namespace", name };
  const reading = toObjectTarget(reference);
  return reading.kind === "target" ? objects.get(reading.target, reference) : undefined;
}

function managedLabel(object: KubeObject | undefined): string | undefined {
  return object?.metadata.labels?.[labelKeys.managed];
}

/** A cluster-wide object that does not exist cannot be labelled. */
function missingScope({ kind, name, text }: ObjectTarget): Scope {
  const fix = `kubectl get ${kind}, and correct the name ${name} in the signal`;
  return { in: false, because: `no such ${kind}: ${text} does not exist`, fix };
}

function out({ namespace, kind, name }: ObjectTarget, because: string): Scope {
  const place = namespace === undefined ? "" : `--namespace ${namespace} `;
  return { in: false, because, fix: labelCommand(`${place}${kind} ${name}`) };
}

function labelCommand(object: string): string {
  return `kubectl label ${object} ${labelKeys.managed}=true --overwrite`;
}
