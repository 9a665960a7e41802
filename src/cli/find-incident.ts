import type { KubeClient } from "../kube/index.ts";
import { type RemediationRequest, remediationRequests } from "../resources/index.ts";
import { CommandError } from "./command.ts";
import { isNamed } from "./short-name.ts";

/** The incident that a name means, whole or cut short. Undefined if there is none. */
export async function findIncident(client: KubeClient, text: string): Promise<RemediationRequest | undefined> {
  const { items } = await client.list(remediationRequests);
  const found = items.filter(({ metadata }) => isNamed(text, metadata.name ?? ""));
  if (found.length <= 1) return found[0];
  throw new CommandError(`${text} may be ${found.map(({ metadata }) => metadata.name).join(" or ")}: write more of it`);
}
