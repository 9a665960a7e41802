import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  type KubeClient,
  type KubeObject,
  refOf,
} from "../../kube/index.ts";
import { type Clock, sleep } from "../../time/index.ts";

const withinMs = 30_000;
const lookEveryMs = 200;

/** Resolves when the server serves the kind of a definition: a request for a new kind is refused before that. False after 30 s. */
export async function waitUntilEstablished(
  client: KubeClient,
  definition: Pick<KubeObject, "metadata">,
  clock: Clock,
): Promise<boolean> {
  const until = clock.now() + withinMs;
  while (!isEstablished(await client.get(customResourceDefinitions, refOf(definition)))) {
    if (clock.now() >= until) return false;
    await sleep(clock, lookEveryMs);
  }
  return true;
}

function isEstablished(definition: CustomResourceDefinition | undefined): boolean {
  return (
    definition?.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false
  );
}
