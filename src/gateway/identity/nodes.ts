import { type KubeObject, setNewest } from "../../kube/index.ts";
import { type NodeHint, type ObjectReference, toObjectTarget } from "../../resources/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Objects } from "./objects.ts";

export interface NodesOptions {
  readonly objects: Objects;
  readonly clock: Clock;
}

/** How long the list of Nodes and the Node of a Pod are cached. */
const freshForMs = 30_000;
const maxPods = 10_000;

/** Finds the Node of a hint, and caches the result because alerts repeat. */
export class Nodes {
  readonly #options: NodesOptions;
  #index: NodeIndex | undefined;
  #indexUntil = Number.NEGATIVE_INFINITY;
  #reading: Promise<NodeIndex> | undefined;
  readonly #nodeOfPod = new Map<string, { readonly node: string | undefined; readonly until: number }>();

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  /** The result of `find` from the cache; undefined if the API server must be read. */
  findCached(hint: NodeHint): { readonly node: string | undefined } | undefined {
    const now = this.#options.clock.now();
    if (!this.#index || this.#indexUntil <= now) return undefined;
    const named = this.#index.nameOf(hint);
    if (named !== undefined || !hint.pod || this.#index.isEmpty) return { node: named };
    const pod = this.#nodeOfPod.get(podKey(hint.pod));
    return pod && pod.until > now ? { node: pod.node } : undefined;
  }

  /** The name of the Node; undefined if there is none. Throws `unavailable` if the API server does not respond. */
  async find(hint: NodeHint): Promise<string | undefined> {
    const known = this.findCached(hint);
    if (known) return known.node;
    const index = await this.#read();
    const named = index.nameOf(hint);
    if (named !== undefined || !hint.pod || index.isEmpty) return named;
    return this.#readNodeOfPod(hint.pod);
  }

  async #read(): Promise<NodeIndex> {
    const { clock, objects } = this.#options;
    if (this.#index && this.#indexUntil > clock.now()) return this.#index;
    this.#reading ??= objects.nodes().then(
      (nodes) => {
        this.#reading = undefined;
        this.#indexUntil = clock.now() + freshForMs;
        this.#index = nodeIndex(nodes);
        return this.#index;
      },
      (error: unknown) => {
        this.#reading = undefined;
        throw error;
      },
    );
    return this.#reading;
  }

  async #readNodeOfPod(pod: ObjectReference): Promise<string | undefined> {
    const { objects, clock } = this.#options;
    const reading = toObjectTarget(pod);
    if (reading.kind === "problem") return undefined;
    const found = (await objects.get(reading.target, pod)) as PodObject | undefined;
    const node = found?.spec?.nodeName || undefined;
    setNewest(this.#nodeOfPod, [podKey(pod), { node, until: clock.now() + freshForMs }], maxPods);
    return node;
  }
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

interface NodeObject extends KubeObject {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

interface NodeIndex {
  readonly isEmpty: boolean;
  /** The Node with one of the names or addresses. */
  nameOf(hint: NodeHint): string | undefined;
}

/** Indexes Nodes by names and addresses. An address that two Nodes share identifies neither. */
function nodeIndex(nodes: readonly NodeObject[]): NodeIndex {
  const names = new Set(nodes.map(({ metadata }) => metadata.name ?? ""));
  const byAddress = new Map<string, string | undefined>();
  for (const { metadata, status } of nodes) {
    for (const { address } of status?.addresses ?? []) {
      const isShared = byAddress.has(address) && byAddress.get(address) !== metadata.name;
      byAddress.set(address, isShared ? undefined : metadata.name);
    }
  }
  return {
    isEmpty: nodes.length === 0,
    nameOf({ names: candidates, addresses }) {
      // The embedded API server has no Nodes: the name cannot be checked.
      if (nodes.length === 0) return candidates[0];
      const named = candidates.find((name) => names.has(name));
      if (named !== undefined) return named;
      return [...candidates, ...addresses].map((address) => byAddress.get(address)).find((name) => name !== undefined);
    },
  };
}

function podKey({ namespace = "", name }: ObjectReference): string {
  return `${namespace}/${name}`;
}
