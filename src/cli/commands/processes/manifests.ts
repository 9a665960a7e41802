import { releaseObjects } from "../../../manifests/index.ts";
import type { CommandContext } from "../../context.ts";
import { jsonLines } from "../../output/terminal.ts";
import { type ReleaseArguments, releaseOptions } from "../install/release-options.ts";

/** `interlock manifests` */
export async function manifests({ terminal }: CommandContext, given: ReleaseArguments): Promise<number> {
  const items = releaseObjects(releaseOptions(given));
  for (const line of jsonLines({ apiVersion: "v1", kind: "List", items })) terminal.print(line);
  return 0;
}
