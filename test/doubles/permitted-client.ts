import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import { type Places, permissions, type StageName, usualManifests } from "../../src/manifests/index.ts";
import { checkedClient } from "./checked-client.ts";

/** A client with exactly the rights of the shipped roles of `stage`, as a real API server enforces them. */
export function permittedClient(
  client: KubeClient,
  stage: StageName,
  places: Places = usualManifests.places,
): KubeClient {
  return checkedClient(client, ({ verb, resource, group, namespace }) => {
    const isAllowed = permissions[stage].some(
      (one) =>
        one.group === group &&
        one.resources.includes(resource) &&
        one.verbs.includes(verb) &&
        (one.where === "anywhere" || places[one.where] === namespace),
    );
    if (isAllowed) return;
    const where = namespace ? `in the namespace ${namespace}` : "at the cluster scope";
    throw new KubeError("forbidden", `interlock-${stage} cannot ${verb} ${resource} in ${group || "core"} ${where}`);
  });
}
