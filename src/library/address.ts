/** The backend that an address names. */
export type Address =
  | { readonly backend: "memory" }
  | { readonly backend: "redis"; readonly url: string }
  | {
      readonly backend: "kubernetes";
      /** Default: that of the context or pod, else `default`. */
      readonly namespace?: string;
      readonly kubeconfig?: string;
      readonly context?: string;
    };

const forms =
  "write memory:, redis://HOST:6379 (or rediss, redis+sentinel, redis+cluster), or kubernetes:NAMESPACE?kubeconfig=FILE&context=NAME";

/**
 * Reads `memory:`, `redis://…` and `kubernetes:NAMESPACE?kubeconfig=FILE&context=NAME`, of which everything behind the colon
 * may be left out. Throws TypeError; it does not repeat the address, which may contain a password.
 */
export function parseAddress(text: string): Address {
  if (text === "memory:") return { backend: "memory" };
  if (/^rediss?(\+\w+)?:\/\//.test(text)) return { backend: "redis", url: text };
  if (text.startsWith("kubernetes:")) return parseKubernetes(text);
  const [, scheme] = /^([a-z][\w+.-]*):/i.exec(text) ?? [];
  throw new TypeError(`${scheme ? `unknown backend "${scheme}"` : "the address names no backend"}; ${forms}`);
}

function parseKubernetes(text: string): Address {
  const [, namespace, query] = /^kubernetes:([a-z0-9-]*)(?:\?(.*))?$/.exec(text) ?? [];
  const settings = new URLSearchParams(query);
  const unknown = [...settings.keys()].find((name) => name !== "kubeconfig" && name !== "context");
  if (namespace === undefined || unknown !== undefined) {
    const problem = unknown === undefined ? "not a Kubernetes address" : `unknown parameter "${unknown}"`;
    throw new TypeError(`${problem}; ${forms}`);
  }
  const [kubeconfig, context] = [settings.get("kubeconfig"), settings.get("context")];
  return {
    backend: "kubernetes",
    ...(namespace && { namespace }),
    ...(kubeconfig && { kubeconfig }),
    ...(context && { context }),
  };
}
