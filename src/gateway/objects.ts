import { type Call, type KubeClient, KubeError, type KubeObject, type ResourceType } from "../kube/index.ts";
import { type Kinds, kindText, type ObjectReference, type ObjectTarget } from "../resources/index.ts";
import type { Clock } from "../time/index.ts";
import { GatewayError } from "./gateway-error.ts";

/** Reads the objects that signals are about. */
export interface Objects {
  /** Undefined if there is none, or none that this server knows. Throws `unavailable` when it cannot be told. */
  get(target: ObjectTarget, reference: ObjectReference): Promise<KubeObject | undefined>;
  /** All Nodes; none if this server has no such kind. Throws `unavailable` when it cannot be told. */
  nodes(): Promise<readonly KubeObject[]>;
}

export interface ObjectsOptions {
  readonly client: KubeClient;
  readonly kinds: Kinds;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** One read is given `timeoutMs`: a sender waits for the answer, and has its own patience. */
export function objectsOf({ client, kinds, clock, timeoutMs }: ObjectsOptions): Objects {
  async function read<T>(what: string, request: (call: Call) => Promise<T>, otherwise: T): Promise<T> {
    const stop = new AbortController();
    const timer = clock.after(timeoutMs, () => stop.abort());
    try {
      return await request({ signal: stop.signal });
    } catch (error) {
      // The server does not serve this kind, so there is no such object.
      if (error instanceof KubeError && error.code === "invalid") return otherwise;
      throw new GatewayError("unavailable", `${what} cannot be read: ${(error as Error).message}`, { cause: error });
    } finally {
      timer.cancel();
    }
  }
  return {
    async get(target, reference) {
      const type = typeOf(target, reference, kinds);
      if (!type) return undefined;
      const { namespace, name } = target;
      const ref = namespace === undefined ? { name } : { namespace, name };
      return read<KubeObject | undefined>(target.text, (call) => client.get(type, ref, call), undefined);
    },
    nodes: () => read("the list of Nodes", async (call) => (await client.list(nodeType, {}, call)).items, []),
  };
}

const nodeType: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };

/** Every built-in kind has a version v1; that of any other one has to be said. */
function typeOf(target: ObjectTarget, { apiVersion }: ObjectReference, kinds: Kinds): ResourceType | undefined {
  const kind = kinds.find(target.group ? `${target.kind}.${target.group}` : target.kind);
  if (!kind) return undefined;
  const version = kind.builtIn ? "v1" : apiVersion?.split("/")[1];
  if (!version) return undefined;
  return {
    apiVersion: target.group ? `${target.group}/${version}` : version,
    kind: kindText(kind),
    plural: kind.plural,
    namespaced: kind.namespaced,
  };
}
