import type { LoadedConfig } from "../config/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { OperateContext } from "../operate/index.ts";
import { listKinds } from "../resources/index.ts";
import type { Clock } from "../time/index.ts";
import { declaredKinds } from "./kinds.ts";
import { knownPolicySettings } from "./policy-settings.ts";

export interface OperateContextOptions {
  readonly loaded: Pick<LoadedConfig, "config" | "origins">;
  /** Acts with the rights of the caller. */
  readonly client: KubeClient;
  /** Lists the definitions of custom kinds, to which callers of the console need no right. Default: `client`. */
  readonly kindsClient?: KubeClient;
  /** Whether the executor has the same settings as this process. */
  readonly sharesExecutor: boolean;
  readonly recorded: OperateContext["readEvents"];
  readonly clock: Clock;
}

/** The environment of operations and explanations, as configured. */
export function operateContext(options: OperateContextOptions): OperateContext {
  const { loaded, client, kindsClient = client, clock, recorded, sharesExecutor } = options;
  const { gateway, execution, approval, verification } = loaded.config;
  const declared = declaredKinds(loaded.config);
  return {
    client,
    clock,
    settings: knownPolicySettings(loaded, { sharesExecutor }),
    incidentsIn: gateway.namespace,
    catalogIn: execution.catalogNamespace,
    catalogDefaults: {
      engine: execution.engine,
      serviceAccountName: execution.serviceAccount,
      allowOutsideCatalog: execution.allowOutsideCatalog,
    },
    approvalExpiresAfterMs: approval.expiresAfterMs,
    recordsIn: execution.namespace,
    verification,
    kinds: () => listKinds(kindsClient, declared),
    readEvents: recorded,
  };
}
