import { KubeError } from "../../../kube/index.ts";
import { type ReleaseOptions, releaseObjects, version } from "../../../manifests/index.ts";
import { parseDuration } from "../../../time/index.ts";
import { CommandError, MisuseError, type ServerContext } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { jsonLines } from "../../output/terminal.ts";
import { type ApplyMode, performAll, planAll, planRemoval } from "./apply.ts";
import { provideGatewayToken } from "./gateway-token.ts";
import { type ReleaseArguments, releaseOptions, upgradedImage } from "./release-options.ts";
import { type ReleaseRecord, readRelease, writeRelease } from "./release-record.ts";
import { waitForStages } from "./wait-for-stages.ts";

export interface InstallArguments extends ReleaseArguments {
  readonly dryRun?: boolean;
  readonly diff?: boolean;
  readonly wait?: boolean;
  readonly timeout?: string;
}

/** `interlock install` */
export async function install(context: ServerContext, args: InstallArguments): Promise<void> {
  return withHints(async () => {
    const options = releaseOptions(args);
    const before = await readRelease(context.client, options.places.locks);
    if (before && before.version !== version) {
      throw new CommandError(`Interlock ${before.version} is installed here; run interlock upgrade`);
    }
    const record = { version, options: before ? releaseOptions(args, before.options) : options };
    return applyRelease(context, { ...record, before: before?.objects ?? [], prunes: false }, args);
  });
}

/** `interlock upgrade` */
export async function upgrade(context: ServerContext, args: InstallArguments): Promise<void> {
  return withHints(async () => {
    const { places } = releaseOptions(args);
    const before = await readRelease(context.client, places.locks);
    if (!before) {
      throw new CommandError(`no installation in the namespace ${places.locks}; run interlock install`, [
        "It was installed in another namespace? Name it with --namespace",
      ]);
    }
    const options = releaseOptions({ ...args, image: args.image ?? nextImage(before) }, before.options);
    return applyRelease(context, { options, before: before.objects, prunes: true }, args);
  });
}

function nextImage({ version: from, options }: ReleaseRecord): string {
  const image = upgradedImage(options.image, { from, to: version });
  if (image !== undefined) return image;
  throw new MisuseError(`--image is needed: the installed image ${options.image} does not name the version ${from}`);
}

interface Release {
  readonly options: ReleaseOptions;
  /** The objects of the existing installation. */
  readonly before: ReleaseRecord["objects"];
  /** Whether objects that this version does not have are deleted. */
  readonly prunes: boolean;
}

async function applyRelease(context: ServerContext, release: Release, args: InstallArguments): Promise<void> {
  const { options, before, prunes } = release;
  const mode: ApplyMode = { isDryRun: Boolean(args.dryRun || args.diff), changes: Boolean(args.diff) };
  const withinMs = timeoutMs(args.timeout);
  const objects = releaseObjects(options);
  const removal = prunes ? planRemoval(before, objects) : [];
  const steps = await planAll(context.client, objects);

  const { locks: namespace } = options.places;
  const definitions = steps.filter(({ object }) =>
    ["CustomResourceDefinition", "Namespace"].includes(object.kind ?? ""),
  );
  await performAll(definitions, context, mode);
  const all = [...objects, ...planRemoval(before, objects).map(({ object }) => object)];
  // Written before the objects, so that the next command finds those of an interrupted one.
  if (!mode.isDryRun) await writeRelease(context.client, { version, options, objects: all });
  await provideGatewayToken(context, namespace, mode.isDryRun);
  await performAll([...steps.filter((step) => !definitions.includes(step)), ...removal], context, mode);
  if (mode.isDryRun) return;
  if (prunes) await writeRelease(context.client, { version, options, objects });
  if (args.wait) await waitForStages(objects, context, withinMs);
  for (const line of nextSteps(options, { isAvailable: args.wait ?? false })) context.terminal.print(line);
}

function timeoutMs(text = "5m"): number {
  const parsed = parseDuration(text);
  if (parsed === undefined) throw new MisuseError("--timeout needs a duration, such as 5m");
  return parsed;
}

function nextSteps({ image, places }: ReleaseOptions, { isAvailable }: { isAvailable: boolean }): readonly string[] {
  const installed = `Interlock ${version} is installed, with the image ${image}.`;
  if (isAvailable) return [installed, "See whether it is healthy: interlock status"];
  return [
    installed,
    ...(image.includes("/") ? [] : ["The nodes must have that image; name the one in your registry with --image."]),
    `See it start: kubectl -n ${places.locks} rollout status deployment`,
  ];
}

/** Adds a hint to errors that an operator can fix: a missing right or the wrong server. */
export async function withHints(work: () => Promise<void>): Promise<void> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // The embedded API server has none of them.
    if (/\b(validatingadmission|network)policies\b.*installed\?/.test(error.message)) {
      throw new CommandError(error.message, [
        "A cluster with Kubernetes 1.30 or newer is needed; the API server of interlock up is none.",
        "Name your cluster with --kubeconfig FILE or --context NAME; interlock config view prints the one in use.",
      ]);
    }
    if (error.code !== "forbidden") throw error;
    throw new CommandError(error.message, [
      "Grant that right, or use an administrator's kubeconfig, and repeat the command.",
    ]);
  }
}

/** `interlock manifests` */
export async function manifests({ terminal }: CommandContext, args: ReleaseArguments): Promise<void> {
  const items = releaseObjects(releaseOptions(args));
  for (const line of jsonLines({ apiVersion: "v1", kind: "List", items })) terminal.print(line);
}
