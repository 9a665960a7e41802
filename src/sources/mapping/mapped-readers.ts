import { isJsonObject } from "../../kube/index.ts";
import type { SignalReader } from "../../resources/index.ts";
import { builtInMappings } from "./built-in-mappings.ts";
import { mappedReader } from "./mapped-reader.ts";
import { overrideMapping, readMapping } from "./mapping.ts";

export type MappedReaders =
  | { readonly kind: "valid"; readonly builtIn: readonly SignalReader[]; readonly own: readonly SignalReader[] }
  /** Sentences that begin with the setting. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Sources with readers and routes of their own, which no mapping can replace. */
const reserved: readonly string[] = [
  "alertmanager",
  "alertmanager-groups",
  "generic",
  "grafana",
  "kubernetes-event",
  "kubernetes-events",
  "kubernetes-nodes",
  "prometheus",
];

/** The readers of the built-in mappings and of those in `written`, by the name of their source. */
export function openMappedReaders(written: ReadonlyMap<string, unknown> = new Map()): MappedReaders {
  const problems: string[] = [];
  const open = (source: string, mapping: unknown): SignalReader | undefined => {
    const reading = readMapping(mapping);
    if (reading.kind === "valid") return mappedReader(source, reading.mapping);
    problems.push(...reading.problems.map((problem) => `sources.${source}.map: ${problem}`));
    return undefined;
  };
  const builtIn = Object.entries(builtInMappings).flatMap(([source, mapping]) => {
    const own = written.get(source);
    return open(source, isJsonObject(own) ? overrideMapping(mapping, own) : mapping) ?? [];
  });
  const own = [...written].flatMap(([source, mapping]) => {
    if (source in builtInMappings) return [];
    if (!reserved.includes(source)) return open(source, mapping) ?? [];
    problems.push(`sources.${source}.map: ${source} has a reader of its own; choose another name`);
    return [];
  });
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "valid", builtIn, own };
}
