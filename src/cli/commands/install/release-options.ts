import { imageProblem, type ReleaseOptions, usualManifests } from "../../../manifests/index.ts";
import { MisuseError } from "../../command.ts";

/** The arguments of `manifests`, `install` and `upgrade`. */
export interface ReleaseArguments {
  readonly image?: string;
  readonly replicas?: string;
  readonly namespace?: string;
  readonly watermarksIn?: string;
  readonly runsIn?: string;
  readonly agent?: boolean;
  readonly agentsIn?: string;
  readonly console?: boolean;
  readonly gatewayTls?: string;
}

/** The options with their defaults: those of the existing installation, if there is one. */
export function releaseOptions(args: ReleaseArguments, before: ReleaseOptions = defaults): ReleaseOptions {
  const { places } = before;
  const { namespace = places.locks, watermarksIn = places.watermarks, runsIn = places.runs } = args;
  const { agentsIn = places.agents, gatewayTls = before.gatewayTls, agent = before.agent } = args;
  const { console = before.console ?? false } = args;
  const replicas = Number(args.replicas ?? before.replicas);
  if (!Number.isInteger(replicas) || replicas < 1) throw new MisuseError("--replicas needs a whole number, 1 or more");
  const problem = args.image === undefined ? undefined : imageProblem(args.image);
  if (problem !== undefined) throw new MisuseError(`--image ${problem}`);
  // A replica that may write watermarks may write every ConfigMap of their namespace.
  if ([namespace, runsIn, agentsIn].includes(watermarksIn)) {
    throw new MisuseError("--watermarks-in must name a namespace that holds nothing else");
  }
  return {
    image: args.image ?? before.image,
    replicas,
    agent,
    console,
    places: { incidents: namespace, locks: namespace, watermarks: watermarksIn, runs: runsIn, agents: agentsIn },
    ...(gatewayTls !== undefined && { gatewayTls }),
  };
}

const defaults: ReleaseOptions = { ...usualManifests, agent: false };

/**
 * The image for an upgrade: the one before, with the new version as its tag if it had the old version there. Undefined if it
 * does not determine the image of the new version: a digest, or a tag that is not the version.
 */
export function upgradedImage(
  image: string,
  versions: { readonly from: string; readonly to: string },
): string | undefined {
  if (versions.from === versions.to) return image;
  const tag = `:${versions.from}`;
  return image.endsWith(tag) ? `${image.slice(0, -tag.length)}:${versions.to}` : undefined;
}
