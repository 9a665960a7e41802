import { agentManifests, manifests as manifestsOf, usualManifests } from "../../../manifests/index.ts";
import { MisuseError } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { jsonLines } from "../../output/terminal.ts";

interface ManifestsOptions {
  readonly image?: string;
  readonly replicas?: string;
  readonly namespace?: string;
  readonly watermarksIn?: string;
  readonly runsIn?: string;
  readonly agent?: boolean;
  readonly agentsIn?: string;
  readonly gatewayTls?: string;
}

/** `interlock manifests` */
export async function manifests({ terminal }: CommandContext, given: ManifestsOptions): Promise<number> {
  const { image, places } = usualManifests;
  const { namespace = places.locks, watermarksIn = places.watermarks, runsIn = places.runs } = given;
  const { agentsIn = places.agents, replicas = String(usualManifests.replicas), gatewayTls } = given;
  const wanted = Number(replicas);
  if (!Number.isInteger(wanted) || wanted < 1) throw new MisuseError("--replicas needs a whole number, 1 or more");
  // A replica that may write watermarks may write every ConfigMap of their namespace.
  if ([namespace, runsIn, agentsIn].includes(watermarksIn)) {
    throw new MisuseError("--watermarks-in must name a namespace that holds nothing else");
  }
  const options = {
    image: given.image ?? image,
    replicas: wanted,
    places: { incidents: namespace, locks: namespace, watermarks: watermarksIn, runs: runsIn, agents: agentsIn },
    ...(gatewayTls !== undefined && { gatewayTls }),
  };
  const items = [...manifestsOf(options).values()].flat();
  if (given.agent) items.push(...agentManifests(options));
  for (const line of jsonLines({ apiVersion: "v1", kind: "List", items })) terminal.print(line);
  return 0;
}
