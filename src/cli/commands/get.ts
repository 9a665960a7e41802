import type { KubeObject } from "../../kube/index.ts";
import { type RemediationWorkflow, remediationWorkflows } from "../../resources/index.ts";
import { isNamed } from "../../resources/short-names/index.ts";
import { CommandError, exitStatus, MisuseError, type ServerContext } from "../command.ts";
import { openView } from "../output/view.ts";
import { watchObjects } from "../output/watch.ts";
import { type FilterOptions, openFilter } from "../parsing/filters.ts";
import { type NamedKind, readKind, splitKind } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/options.ts";

interface GetOptions extends FilterOptions, NamespaceOptions {
  readonly output?: string;
  readonly watch?: boolean;
}

/** `interlock get` */
export async function get(
  context: ServerContext,
  kind: string,
  args: readonly string[],
  { output, watch, ...options }: GetOptions,
): Promise<number> {
  const { client, terminal } = context;
  const { named, names } = readSubjects(kind, args);
  const namespace = searchedNamespace(options, context);
  const query = namespace === undefined ? {} : { namespace };
  const isWanted = await openFilter(named, options, { nowMs: client.serverNowMs(), kinds: () => context.kinds() });
  const isAskedFor = (object: KubeObject) => names.length === 0 || names.some((text) => isMeant(text, object));
  const select = (objects: readonly KubeObject[]) =>
    objects.filter((object) => isAskedFor(object) && isWanted(object)).sort(byAgeAndName);
  const view = openView(
    named.kind,
    {
      output,
      single: names.length === 1 && !watch,
      withNamespace: options.allNamespaces === true,
      watch: watch === true,
    },
    terminal,
  );
  if (watch) {
    await watchObjects({ kind: named.kind, query, select }, view, context);
    return exitStatus("interrupted");
  }

  const { items } = await client.list<KubeObject>(named.kind, query);
  const found = select(items);
  const missing = names.filter((text) => !items.some((object) => isMeant(text, object)));
  const isForPeople = output === undefined || output === "table" || output === "wide";
  if (found.length > 0 || (!isForPeople && missing.length === 0)) view.show(found, client.serverNowMs());
  else if (missing.length === 0) terminal.printError(noneText(named, namespace, options));
  if (missing.length > 0)
    throw new CommandError(
      `there is no ${singular(named)} ${missing.join(", ")}; see: interlock get ${named.kindName}`,
    );
  return 0;
}

/** `incidents a b`, or as kubectl writes names, `incident/a incident/b`. */
function readSubjects(
  kind: string,
  args: readonly string[],
): { readonly named: NamedKind; readonly names: readonly string[] } {
  const first = splitKind(kind);
  const named = first ?? readKind(kind);
  const names = (first ? [kind, ...args] : args).map((text) => {
    const split = splitKind(text);
    if (split && split.kindName !== named.kindName)
      throw new MisuseError(`${text} is not one of ${named.kindName}; get one kind at a time`);
    return split?.name ?? text;
  });
  if (names.includes("")) throw new MisuseError("a name is empty");
  return { named, names };
}

/** A workflow also has its id, which all its versions share. */
function isMeant(text: string, object: KubeObject): boolean {
  if (isNamed(text, object.metadata.name ?? "")) return true;
  return object.kind === remediationWorkflows.kind && (object as RemediationWorkflow).spec.workflowId === text;
}

function noneText({ kindName }: NamedKind, namespace: string | undefined, options: FilterOptions): string {
  const { phase, reason, lane, workflow, target, search, since } = options;
  const isFiltered = [phase, reason, lane, workflow, target, search, since].some((one) => one !== undefined);
  return `there are no ${kindName}${namespace === undefined ? "" : ` in ${namespace}`}${isFiltered ? " that match" : ""}`;
}

function singular({ kindName }: NamedKind): string {
  return kindName.slice(0, -1);
}

/** Oldest first; those of one second by name, as people look for names. */
function byAgeAndName({ metadata: one }: KubeObject, { metadata: other }: KubeObject): number {
  const [a, b] = [one, other].map(({ creationTimestamp, name }) => `${creationTimestamp} ${name}`);
  return (a ?? "") < (b ?? "") ? -1 : 1;
}
