import type { Command } from "commander";
import { type ProgramBuilder, quietOption, value } from "./declare.ts";

/** Declares the commands that put Interlock into a Kubernetes cluster. */
export function declareInstallation({ command, serverCommand }: ProgramBuilder): void {
  const group = "Install";
  const code = () => import("../commands/install/install.ts");

  withRelease(
    command("manifests", {
      group,
      summary: "Print the manifests that run all stages in a Kubernetes cluster",
      details:
        "Custom resource definitions, namespaces, service accounts with the least rights that each stage needs, configuration, Deployments, Services and disruption budgets, as JSON. The folder deploy is the same for kustomize, and charts/interlock for Helm.",
      example: "interlock manifests --image registry.example/interlock:0.1.0 | kubectl apply -f -",
      load: async () => (await import("../commands/install/install.ts")).manifests,
    }),
  );

  withRelease(
    withProgress(
      serverCommand("install", {
        group,
        summary: "Install Interlock in a Kubernetes cluster",
        details:
          "Applies what interlock manifests prints, each object after those that it needs, and creates a token for Alertmanager if no sender has one. Objects that belong to another tool are never changed. May be repeated: objects without a difference are not changed. The nodes pull interlock:VERSION unless --image names another one, such as that of your own registry.",
        example: "interlock install --image registry.example/interlock:0.1.0 --wait",
        load: async () => (await code()).install,
      }),
    ),
  );

  withRelease(
    withProgress(
      serverCommand("upgrade", {
        group,
        summary: "Upgrade an installation to the version of this command",
        details:
          "Applies the manifests of this version with the options of the installation, unless others are given, and deletes the objects that this version does not have. The tag of the image becomes the new version if it was the old one.",
        example: "interlock upgrade --diff",
        load: async () => (await code()).upgrade,
      }),
    ),
  );

  serverCommand("uninstall", {
    group,
    summary: "Uninstall Interlock from a Kubernetes cluster",
    details:
      "Deletes what install created, except for the custom resource definitions, the namespaces and everything in them. Refused while executions are not finished.",
    example: "interlock uninstall --dry-run",
    load: async () => (await import("../commands/install/uninstall.ts")).uninstall,
  })
    .option("-n, --namespace <NS>", "namespace of the stages; default kubernaut-system", value)
    .option("--dry-run", "change nothing: print what would be deleted")
    .option(
      "--purge",
      "also delete the definitions and namespaces, with all incidents, records and Secrets; asks first",
    )
    .option("--yes", "do not ask")
    .option("--force", "also while executions are not finished: their runs continue without supervision");
}

function withProgress(command: Command): Command {
  return command
    .option("--dry-run", "change nothing: print what would happen to each object")
    .option("--diff", "change nothing: print what would happen, and each field that would change")
    .option("--wait", "wait until all replicas of the stages are available")
    .option("--timeout <DURATION>", "how long --wait waits; default 5m", value)
    .addOption(quietOption());
}

function withRelease(command: Command): Command {
  return command
    .option("--image <IMAGE>", "best with its digest: NAME@sha256:…; default interlock:VERSION", value)
    .option("--replicas <N>", "replicas of each stage; default 2", value)
    .option("-n, --namespace <NS>", "namespace of the stages, incidents and Leases; default kubernaut-system", value)
    .option("--watermarks-in <NS>", "namespace of watermarks; default interlock-watermarks", value)
    .option("--runs-in <NS>", "namespace of runs and target records; default kubernaut-workflows", value)
    .option("--agent", "with the agent, which needs the Secret interlock-agent (docs/agent.md)")
    .option("--agents-in <NS>", "namespace of the Jobs in which it runs; default kubernaut-agents", value)
    .option("--console", "with the console, which acts in the name of its users (docs/cluster.md)")
    .option("--gateway-tls <SECRET>", "serve TLS at the gateway with this Secret of the type kubernetes.io/tls", value);
}
