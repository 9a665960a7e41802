import { type ProgramBuilder, value, withApiOptions, withConfig, withServer } from "./declare.ts";

/** Declares the commands that start single stages, and those that run within runs and Jobs. */
export function declareProcesses({ parentCommand, command }: ProgramBuilder): void {
  const group = "Processes";
  const withinRuns = "Used by runs and Jobs";

  withApiOptions(
    command("api", {
      group,
      summary: "Start only the embedded API server",
      details: "It serves the Kubernetes API from a directory, for other processes of this machine.",
      example: "interlock api --data /var/lib/interlock --listen 127.0.0.1:7080",
      load: async () => (await import("../commands/processes/api.ts")).api,
    }),
  );

  for (const [name, summary, directory] of stages) {
    const stage = command(name, {
      group,
      summary: `Start only ${summary}`,
      details: "It works on the API server that --kubeconfig names.",
      example: `interlock ${name} --kubeconfig .data/kubeconfig --data ${directory}`,
      load: async () => (await import("../commands/processes/stages.ts"))[name],
    });
    withServer(withConfig(stage), ".data/kubeconfig").option(
      "--data <DIR>",
      "directory of this process alone",
      value,
      directory,
    );
  }

  command("action <name>", {
    group: withinRuns,
    summary: "Perform a ready-made action, within a run of its workflow",
    details:
      "Run by the steps of workflows, which pass target, fence and parameters as environment variables (docs/actions.md). Not for use by hand.",
    example: "interlock action restart-rollout",
    load: async () => (await import("../commands/processes/action.ts")).action,
  });

  declareCoder({ parentCommand, command }, withinRuns);
}

function declareCoder(
  { parentCommand, command }: Pick<ProgramBuilder, "parentCommand" | "command">,
  group: string,
): void {
  const details = "Run by the Jobs that the agent creates (agent.executor: job). Not for use by hand.";
  const summary = "Fetch the files and collect the result of a coder, within its Job";
  const coder = parentCommand("coder", { group, summary, details, example: "interlock coder fetch" });
  const code = () => import("../commands/processes/coder.ts");
  const fetch = { summary: "Fetch the files", details, example: "interlock coder fetch" };
  command("fetch", { ...fetch, load: async () => (await code()).fetchFiles }, coder);
  const collect = { summary: "Collect the result", details, example: "interlock coder collect" };
  command("collect", { ...collect, load: async () => (await code()).collectResult }, coder);
}

const stages = [
  ["gateway", "the gateway, which accepts signals over HTTP and opens incidents", ".gateway"],
  ["orchestrator", "the orchestrator, which decides incidents and creates executions", ".orchestrator"],
  ["executor", "the executor, which runs workflows, one at a time per target", ".executor"],
  ["notify", "the delivery of notices to chat, pagers, mail, webhooks, a file or its own output", ".notify"],
  ["agent", "the agent, which reviews merge requests and works on comments and issues", ".agent"],
  ["console", "the console, which shows everything and performs operations in the name of its users", ".console"],
] as const;
