import { type Config, describeConfig, type LoadedConfig } from "../config/index.ts";
import { type KubeClient, KubeError, namespaces } from "../kube/index.ts";
import { installCrds, waitUntilEstablished } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";

/**
 * Makes the kinds and namespaces that stages work with, and waits until the server serves the kinds. Harmless to repeat, and on any
 * number of replicas at once.
 */
export async function prepare(
  client: KubeClient,
  names: readonly string[],
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
): Promise<void> {
  await makeNamespaces(client, names);
  for (const step of await installCrds(client)) {
    if (step.do === "refuse") throw new Error(step.because);
    if (step.do === "leave") {
      log.warn("custom resource definition left alone", { name: step.name, because: step.because });
      continue;
    }
    if (step.do === "create" || step.do === "update")
      log.info("custom resource definition", { name: step.crd.metadata.name, did: step.do });
    if (!(await waitUntilEstablished(client, { metadata: { name: step.name } }, clock)))
      throw new KubeError("unavailable", `the API server does not serve ${step.name} yet`);
  }
}

export async function makeNamespaces(client: KubeClient, names: readonly string[]): Promise<void> {
  for (const name of names) {
    // In a cluster they exist already, and stages lack the right to create them.
    if (await client.get(namespaces, { name })) continue;
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
}

/** Where watermarks are, if they are in Kubernetes. */
export function watermarkNamespaces({ state, watermarks }: Config): readonly string[] {
  return state.backend === "kubernetes" ? [watermarks.namespace] : [];
}

/** Where tasks of the coder are, and its Jobs, if it has any. */
export function agentNamespaces({ namespace, executor, jobNamespace }: Config["agent"]): readonly string[] {
  return executor === "job" ? [namespace, jobNamespace] : [namespace];
}

/** Logs each setting with its value and its origin, and the doubts about them. Secrets are redacted by the description. */
export function logConfig(loaded: Pick<LoadedConfig, "config" | "origins" | "warnings">, log: Logger): void {
  for (const { setting, value, origin } of describeConfig(loaded)) {
    const isChosen = origin !== "default" && !origin.startsWith("as ");
    log[isChosen ? "info" : "debug"]("setting", { setting, value, origin });
  }
  for (const warning of loaded.warnings) log.warn("setting warning", { warning });
}
