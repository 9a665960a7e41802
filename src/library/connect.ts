import { readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { delimiter, join } from "node:path";
import { RedisConnection } from "../coordination/index.ts";
import { type Connection, fromKubeconfig, httpClient, inCluster, type KubeClient } from "../kube/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { type Address, parseAddress } from "./address.ts";
import type { OpenOptions } from "./options.ts";

/** An open backend. */
export type NamedBackend =
  | { readonly backend: "memory" }
  | { readonly backend: "redis"; readonly connection: RedisConnection }
  | { readonly backend: "kubernetes"; readonly client: KubeClient; readonly namespace: string };

export function withDefaults({
  who,
  clock,
  random,
}: OpenOptions): Required<Pick<OpenOptions, "who" | "clock" | "random">> {
  return {
    who: who ?? `${hostname()}/${process.pid}`,
    clock: clock ?? systemClock(),
    random: random ?? systemRandom(),
  };
}

/** Prepares the backend that `address` names. Redis is not connected yet: its users have to register their preparation first. */
export async function prepareBackend(address: string, options: OpenOptions): Promise<NamedBackend> {
  const parsed = parseAddress(address);
  const { clock, random } = withDefaults(options);
  switch (parsed.backend) {
    case "memory":
      return parsed;
    case "redis": {
      const { onProblem = () => {} } = options;
      const connection = new RedisConnection({ url: parsed.url, clock, random, name: "interlock-library", onProblem });
      return { backend: "redis", connection };
    }
    case "kubernetes": {
      const connection = await findServer(parsed, options.env ?? process.env);
      const namespace = parsed.namespace ?? connection.namespace ?? "default";
      return { backend: "kubernetes", client: httpClient({ connection, clock, random }), namespace };
    }
  }
}

/** As kubectl does: the named file, the files of KUBECONFIG, the pod's own server, the file in the home directory. */
async function findServer(
  { kubeconfig, context }: Extract<Address, { backend: "kubernetes" }>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Connection> {
  const named = kubeconfig ? [kubeconfig] : (env["KUBECONFIG"] ?? "").split(delimiter).filter(Boolean);
  if (named.length === 0 && env["KUBERNETES_SERVICE_HOST"]) {
    return inCluster({ readFile: (path) => readFile(path, "utf8"), env });
  }
  const path = named.length > 0 ? named : [join(env["HOME"] ?? homedir(), ".kube", "config")];
  return fromKubeconfig({ path, context, env });
}
