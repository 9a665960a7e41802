import { chooseKubeconfig } from "../../app/index.ts";
import { type KubeObject, listContexts, namespaces } from "../../kube/index.ts";
import { remediationTargets, remediationWorkflows } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import type { ServerContext } from "../command.ts";
import { type CommandContext, configFrom, dataDirectory } from "../context.ts";
import { phaseValues, reasonValues } from "../parsing/filter-values.ts";
import { readKind } from "../parsing/kinds.ts";
import type { Candidate, Completion, FilterLookup, Lookup } from "./find-completion.ts";

/** The values of a filter, which need no server. */
export function lookUpFilter(lookup: FilterLookup): readonly Candidate[] {
  const [what, , kindName = ""] = lookup.split(" ");
  const values = what === "phases" ? phaseValues(readKind(kindName)) : reasonValues(readKind(kindName));
  return (values ?? []).map((text) => ({ text }));
}

/** Names that the API server has. */
export async function lookUp(
  lookup: Exclude<Lookup, "contexts" | "files" | FilterLookup>,
  { client, namespace }: Pick<ServerContext, "client" | "namespace">,
): Promise<readonly Candidate[]> {
  switch (lookup) {
    case "namespaces":
      return (await client.list(namespaces)).items.map(({ metadata }) => ({ text: metadata.name ?? "" }));
    case "target texts":
      return (await client.list(remediationTargets)).items.map(({ spec }) => ({ text: spec.targetResource }));
    case "workflow ids":
      return (await client.list(remediationWorkflows)).items.map(({ spec }) => ({ text: spec.workflowId }));
    default: {
      const query = namespace === undefined ? {} : { namespace };
      return (await client.list<KubeObject>(readKind(lookup).kind, query)).items.map(toCandidate);
    }
  }
}

/** A name as tables show it, with the phase of the object. */
function toCandidate(object: KubeObject): Candidate {
  const { phase } = (object as { readonly status?: { readonly phase?: unknown } }).status ?? {};
  const text = shortNames(object.metadata.name ?? "");
  return typeof phase === "string" ? { text, description: phase } : { text };
}

/** The contexts of the kubeconfig that the command would use. */
export async function lookUpContexts(
  server: Completion["server"],
  context: CommandContext,
): Promise<readonly Candidate[]> {
  const { env } = context;
  const { config } = await configFrom(server.config, context);
  const { kubeconfig, data: directory = dataDirectory(context) } = server;
  // As if a context were named, so that those of all files are offered.
  const { paths } = await chooseKubeconfig({ kubeconfig, context: "", directory, config, env });
  return (await listContexts(paths)).names.map((text) => ({ text }));
}
