import type { KubeClient } from "../kube/index.ts";
import { type AutomationPauseSpec, parsePauseTarget, remediationWorkflows } from "../resources/index.ts";
import type { OperateContext } from "./context.ts";
import { noWorkflow, OperationError } from "./errors/index.ts";

/** The scope of a pause. */
export type PauseScope =
  | { readonly scope: "All" }
  | { readonly scope: "Namespace"; readonly targetNamespace: string }
  | { readonly scope: "Target"; readonly targetResource: string }
  | { readonly scope: "Workflow"; readonly workflowId: string };

const scopesWithName = ["namespace", "target", "workflow"];
const pauseScopes = "all | namespace NS | target TARGET | workflow WORKFLOW";

/** Reads `all`, `namespace payment`, `target node/worker-1`, `target git:host/42` or `workflow restart`. Throws for anything else: a pause without effect would look like a pause. */
export async function readPauseScope(
  args: readonly string[],
  context: Pick<OperateContext, "client" | "kinds">,
): Promise<PauseScope> {
  const [scope = "", name = ""] = args;
  if (scope === "all" && name === "") return { scope: "All" };
  if (scope.includes("/")) throw new OperationError("invalid", `"${scope}" is not a scope; write: target ${scope}`);
  if (name === "" && scopesWithName.includes(scope)) {
    throw new OperationError("invalid", `missing argument: ${pauseScopes}`);
  }
  switch (scope) {
    case "namespace":
      return { scope: "Namespace", targetNamespace: name };
    case "target":
      return { scope: "Target", targetResource: await canonicalTarget(name, context) };
    case "workflow":
      return { scope: "Workflow", workflowId: await knownWorkflow(name, context.client) };
    default:
      throw new OperationError("invalid", `"${args.join(" ")}" is not one of: ${pauseScopes}`);
  }
}

/** A scope as text, such as `automation in namespace payment`. */
export function pauseScopeText(spec: PauseScope | AutomationPauseSpec): string {
  switch (spec.scope) {
    case "All":
      return "all automation";
    case "Namespace":
      return `automation in namespace ${spec.targetNamespace}`;
    case "Target":
      return `automation on ${spec.targetResource}`;
    case "Workflow":
      return `workflow ${spec.workflowId}`;
  }
}

async function canonicalTarget(text: string, context: Pick<OperateContext, "kinds">): Promise<string> {
  const read = parsePauseTarget(text, await context.kinds());
  if (read.kind === "problem") throw new OperationError("invalid", `the target "${text}" ${read.problem}`);
  // A project may be renamed, so tasks carry its id instead of its path.
  if (!read.text.startsWith("git:") || /^git:[^/]+\/\d+(@|$)/.test(read.text)) return read.text;
  throw new OperationError("invalid", "coding tasks are identified by the id of their project, not by its path", {
    hint: "write git:host/42, or git:host/42@branch; interlock get tasks --output wide shows it",
  });
}

async function knownWorkflow(id: string, client: KubeClient): Promise<string> {
  const { items } = await client.list(remediationWorkflows);
  if (items.some(({ spec }) => spec.workflowId === id)) return id;
  throw noWorkflow(id, items);
}
