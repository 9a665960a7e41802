import type { NodeHint } from "../../resources/index.ts";
import type { Labels } from "./reporters.ts";

/**
 * Returns the evidence by which the gateway can find the Node of an exporter that measures its machine; undefined if
 * there is none.
 */
export function nodeHint(labels: Labels): NodeHint | undefined {
  const host = parseHost(labels["instance"] ?? "");
  const isNumber = isAddress(host);
  const names = [labels["nodename"], isNumber ? undefined : host, labels["kubernetes_io_hostname"]].filter(
    (name): name is string => name !== undefined && isNodeName(name, labels),
  );
  const addresses = isNumber && !isLoopback(host) ? [host] : [];
  const pod = labels["pod"] ?? labels["kubernetes_pod_name"];
  const namespace = labels["namespace"] ?? labels["kubernetes_namespace"];
  const hasPod = Boolean(pod && namespace);
  if (names.length === 0 && addresses.length === 0 && !hasPod) return undefined;
  return {
    names: [...new Set(names)],
    addresses,
    ...(hasPod ? { pod: { kind: "Pod", namespace: namespace as string, name: pod as string } } : {}),
  };
}

/** `instance` without the port: `worker-1:9100`, `10.0.0.5:9100`, `[fd00::5]:9100`. */
function parseHost(instance: string): string {
  const [, bracketed] = /^\[([0-9a-fA-F:.]+)\](?::\d+)?$/.exec(instance) ?? [];
  if (bracketed) return bracketed;
  return isAddress(instance) ? instance : instance.replace(/:\d+$/, "");
}

function isAddress(host: string): boolean {
  return /^\d+(\.\d+){3}$/.test(host) || /^[0-9a-fA-F]*:[0-9a-fA-F:.]+$/.test(host);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1" || address === "0.0.0.0" || address === "::";
}

/** Whether a Node can have this name. The DNS name of a Service and loopback names are not Nodes. */
function isNodeName(name: string, { job, service }: Labels): boolean {
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name) || isAddress(name)) return false;
  if (/^localhost(\.|$)|\.localhost$|\.docker\.internal$|^host\.docker/.test(name)) return false;
  if (/\.(svc|pod)(\.|$)|\.cluster\.local$/.test(name)) return false;
  // Docker and Compose resolve a container by the name of its service.
  return name !== job && name !== service && !/exporter|cadvisor/.test(name);
}
