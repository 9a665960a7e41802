import { type Call, type KubeClient, KubeError, type KubeObject, type ResourceType } from "../../kube/index.ts";
import { type KindsCache, type ObjectReference, type ObjectTarget, toResourceType } from "../../resources/index.ts";
import { type Clock, timeLimit } from "../../time/index.ts";
import { GatewayError } from "../gateway-error.ts";

/** Reads the objects that signals are about. */
export interface Objects {
  /** Undefined if the object does not exist or the server does not serve its kind. Throws `unavailable` if that cannot be determined. */
  get(target: ObjectTarget, reference: ObjectReference): Promise<KubeObject | undefined>;
  /** All Nodes; none if the server does not serve the kind. Throws `unavailable` if that cannot be determined. */
  nodes(): Promise<readonly KubeObject[]>;
}

export interface ObjectsOptions {
  readonly client: KubeClient;
  readonly kinds: Pick<KindsCache, "current">;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Each read is limited to `timeoutMs`, because a sender with its own timeout waits for it. */
export function objectReader({ client, kinds, clock, timeoutMs }: ObjectsOptions): Objects {
  async function read<T>(reading: ObjectRead, request: (call: Call) => Promise<T>, otherwise: T): Promise<T> {
    using limit = timeLimit(clock, timeoutMs);
    try {
      return await request({ signal: limit.signal });
    } catch (error) {
      // The server does not serve this kind, so there is no such object.
      if (error instanceof KubeError && error.code === "invalid") return otherwise;
      if (error instanceof KubeError && error.code === "forbidden") throw new ForbiddenObject(reading, error);
      const { message } = error as Error;
      throw new GatewayError("unavailable", `${reading.what} cannot be read: ${message}`, { cause: error });
    }
  }
  return {
    async get(target, reference) {
      const type = toResourceType(target, reference.apiVersion, kinds.current);
      if (!type) return undefined;
      const { namespace, name } = target;
      const ref = namespace === undefined ? { name } : { namespace, name };
      const get = (call: Call) => client.get(type, ref, call);
      return read<KubeObject | undefined>({ what: target.text, verb: "get", type }, get, undefined);
    },
    nodes: () => {
      const reading: ObjectRead = { what: "the list of Nodes", verb: "list", type: nodeType };
      return read(reading, async (call) => (await client.list(nodeType, {}, call)).items, []);
    },
  };
}

const nodeType: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };

/** One read, for errors about it. */
interface ObjectRead {
  /** The object or objects, for display. */
  readonly what: string;
  readonly verb: "get" | "list";
  readonly type: ResourceType;
}

/** The gateway lacks permission to read the object of one signal; a retry fails until an operator grants it. */
export class ForbiddenObject extends GatewayError {
  readonly fix: string;

  constructor({ what, verb, type }: ObjectRead, cause: Error) {
    super("forbidden", `the gateway may not read ${what}: ${cause.message}`, { cause });
    // The API server's message names the rejected account.
    const [, account = "NAMESPACE:interlock-gateway"] =
      /system:serviceaccount:([a-z0-9.-]+:[a-z0-9.-]+)/.exec(cause.message) ?? [];
    const { plural, apiVersion } = type;
    const [group = ""] = apiVersion.includes("/") ? apiVersion.split("/") : [];
    const resource = group ? `${plural}.${group}` : plural;
    this.fix =
      `kubectl create clusterrole interlock-gateway-${plural} --verb=${verb} --resource=${resource} && kubectl create ` +
      `clusterrolebinding interlock-gateway-${plural} --clusterrole=interlock-gateway-${plural} ` +
      `--serviceaccount=${account}`;
  }
}
