import { type Call, isAllowed, type KubeClient } from "../kube/index.ts";
import { executionNamespace, type ObjectTarget } from "../resources/index.ts";
import type { Right } from "./action.ts";

/**
 * Returns the rights that this process lacks, worded like the errors of Kubernetes. They are checked before the first write: an
 * action that lacks one for its last step would otherwise stop halfway.
 */
export async function missingRights(
  client: Pick<KubeClient, "create">,
  rights: readonly Right[],
  target: ObjectTarget,
  call: Call = {},
): Promise<readonly string[]> {
  const { kind } = target;
  const needed = rights
    .filter(({ onlyFor = kind }) => onlyFor === kind)
    .flatMap((right) => right.verbs.map((verb) => ({ right, verb })));
  const allowed = await Promise.all(
    needed.map(({ right, verb }) => isAllowed(client, toAttributes(right, verb, target), call)),
  );
  return needed.filter((_, i) => !allowed[i]).map(({ right, verb }) => rightText(right, verb, target));
}

function toAttributes(
  { group, resource: text, where, name }: Right,
  verb: string,
  target: ObjectTarget,
): Readonly<Record<string, string>> {
  const [resource = "", subresource] = text.split("/");
  const namespace = namespaceFor(where, target);
  return {
    group,
    resource,
    verb,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
  };
}

function namespaceFor(where: Right["where"], target: ObjectTarget): string | undefined {
  if (where === "target") return target.namespace;
  return where === "runs" ? executionNamespace : undefined;
}

/** Like the error of Kubernetes: `cannot update resource "deployments" in API group "apps" in the namespace "a"`. */
function rightText(right: Right, verb: string, target: ObjectTarget): string {
  const namespace = namespaceFor(right.where, target);
  const place = namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
  return `cannot ${verb} resource "${right.resource}" in API group "${right.group}" ${place}`;
}
