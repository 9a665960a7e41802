import { type KubeClient, type KubeObject, refOf } from "../../../kube/index.ts";
import { releaseKind, releaseObjects } from "../../../manifests/index.ts";
import { isUnfinished, managedBy, resourceKinds, workflowExecutions } from "../../../resources/index.ts";
import { CommandError, MisuseError, type ServerContext } from "../../command.ts";
import { performAll } from "./apply.ts";
import { withHints } from "./install.ts";
import { describeObject, type ObjectStep } from "./plan.ts";
import { releaseOptions } from "./release-options.ts";
import { readRelease, removeRelease } from "./release-record.ts";

export interface UninstallArguments {
  readonly namespace?: string;
  readonly dryRun?: boolean;
  readonly purge?: boolean;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** `interlock uninstall` */
export async function uninstall(context: ServerContext, args: UninstallArguments): Promise<void> {
  return withHints(async () => {
    const { client } = context;
    const options = releaseOptions(args.namespace === undefined ? {} : { namespace: args.namespace });
    const { locks: namespace } = options.places;
    const record = await readRelease(client, namespace);
    // Without a record, as after kubectl or an interrupted command, the objects have the usual names.
    const objects = await ownObjects(
      client,
      record?.objects ?? releaseObjects({ ...options, agent: true, console: true }),
    );
    if (objects.length === 0) throw new CommandError(`no installation in the namespace ${namespace}`);
    if (!args.force && objects.some(definesExecutions)) await refuseWhileRunning(client);
    const isDryRun = args.dryRun ?? false;
    const data = objects.filter(holdsData);
    if (args.purge && !isDryRun && !args.yes) await confirmPurge(context, data);

    const stages = objects.filter((object) => !holdsData(object)).reverse();
    await performAll(stages.map(toDelete), context, { isDryRun, changes: false });
    if (args.purge) {
      if (!isDryRun) await removeFinalizers(client, data);
      await performAll([...data].reverse().map(toDelete), context, { isDryRun, changes: false });
    }
    if (!isDryRun) await removeRelease(client, namespace);
    if (!args.purge)
      context.terminal.print("Kinds, namespaces and all data are kept; delete them with: interlock uninstall --purge");
  });
}

function toDelete(object: KubeObject): ObjectStep {
  return { do: "delete", object };
}

/** With these, everything in them is deleted. */
function holdsData({ kind }: KubeObject): boolean {
  return kind === "CustomResourceDefinition" || kind === "Namespace";
}

/** Those of `expected` that exist with our label, which a namespace from before the installation does not have. */
async function ownObjects(client: KubeClient, expected: readonly KubeObject[]): Promise<readonly KubeObject[]> {
  const found = await Promise.all(expected.map((object) => client.get(releaseKind(object), refOf(object))));
  return expected.filter((_, i) => found[i]?.metadata.labels?.[managedBy.label] === managedBy.value);
}

function definesExecutions({ metadata }: KubeObject): boolean {
  return metadata.name === `${workflowExecutions.plural}.kubernaut.ai`;
}

/** Without the executor a run is neither cancelled at its timeout nor recorded. */
async function refuseWhileRunning(client: KubeClient): Promise<void> {
  const running = (await client.list(workflowExecutions)).items.filter(isUnfinished);
  if (running.length === 0) return;
  throw new CommandError(
    `${running.length} executions are not finished; pause automation and wait for them, cancel them, or repeat with --force`,
    running.slice(0, 10).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  );
}

async function confirmPurge({ terminal, interrupted }: ServerContext, data: readonly KubeObject[]): Promise<void> {
  terminal.print("This deletes every incident, execution, target record and Secret in these, and cannot be undone:");
  for (const object of data) terminal.print(`  ${describeObject(object)}`);
  if (!terminal.ask) throw new MisuseError("--purge needs --yes where there is no terminal to ask");
  const answer = await terminal.ask("Type yes to delete them: ", interrupted());
  if (answer?.trim() !== "yes") throw new CommandError("nothing was deleted");
}

/** The stages that would remove them are gone, and a definition is deleted only after all its objects. */
async function removeFinalizers(client: KubeClient, data: readonly KubeObject[]): Promise<void> {
  const defined = new Set(data.map(({ metadata }) => metadata.name));
  for (const kind of resourceKinds.filter(({ plural }) => defined.has(`${plural}.kubernaut.ai`))) {
    for (const object of (await client.list(kind)).items) {
      if (object.metadata.finalizers?.length)
        await client.patch(kind, refOf(object), { merge: { metadata: { finalizers: null } } });
    }
  }
}
