import { chooseKubeconfig } from "../../app/index.ts";
import { type KubeObject, listContexts, namespaces } from "../../kube/index.ts";
import { remediationTargets, remediationWorkflows } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import type { Desk } from "../command.ts";
import { type CommandContext, configFrom, dataDirectory } from "../context.ts";
import { phaseWords, reasonWords } from "../parsing/filter-words.ts";
import { readKind } from "../parsing/kinds.ts";
import type { Completion, FilterLookup, Lookup, Word } from "./find-completion.ts";

/** The values of a filter, which need no server. */
export function lookUpFilter(lookup: FilterLookup): readonly Word[] {
  const [what, , word = ""] = lookup.split(" ");
  const words = what === "phases" ? phaseWords(readKind(word)) : reasonWords(readKind(word));
  return (words ?? []).map((text) => ({ text }));
}

/** Names that the API server has. */
export async function lookUp(
  lookup: Exclude<Lookup, "contexts" | "files" | FilterLookup>,
  { client, namespace }: Pick<Desk, "client" | "namespace">,
): Promise<readonly Word[]> {
  switch (lookup) {
    case "namespaces":
      return (await client.list(namespaces)).items.map(({ metadata }) => ({ text: metadata.name ?? "" }));
    case "target texts":
      return (await client.list(remediationTargets)).items.map(({ spec }) => ({ text: spec.targetResource }));
    case "workflow ids":
      return (await client.list(remediationWorkflows)).items.map(({ spec }) => ({ text: spec.workflowId }));
    default: {
      const query = namespace === undefined ? {} : { namespace };
      return (await client.list<KubeObject>(readKind(lookup).kind, query)).items.map(nameWord);
    }
  }
}

/** A name as tables show it, with the phase of the object. */
function nameWord(object: KubeObject): Word {
  const { phase } = (object as { readonly status?: { readonly phase?: unknown } }).status ?? {};
  const text = shortNames(object.metadata.name ?? "");
  return typeof phase === "string" ? { text, description: phase } : { text };
}

/** The contexts of the kubeconfig that the command would use. */
export async function lookUpContexts(server: Completion["server"], around: CommandContext): Promise<readonly Word[]> {
  const { env } = around;
  const { config } = await configFrom(server.config, around);
  const { kubeconfig, data: directory = dataDirectory(around) } = server;
  // As if a context were named, so that those of all files are offered.
  const { paths } = await chooseKubeconfig({ kubeconfig, context: "", directory, config, env });
  return (await listContexts(paths)).names.map((text) => ({ text }));
}
