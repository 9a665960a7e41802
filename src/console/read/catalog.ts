import { ruleProblems } from "../../policy/index.ts";
import {
  currentEntry,
  type ParameterValue,
  type RemediationWorkflow,
  remediationWorkflows,
} from "../../resources/index.ts";
import type { Catalog, WorkflowParameter } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";

/** The workflows and rules, and all of their problems. */
export async function readConsoleCatalog(context: ReadContext): Promise<Catalog> {
  const { client, catalogIn, catalogDefaults, settings } = context;
  const [{ items }, { rules, problems }, kinds] = await Promise.all([
    client.list(remediationWorkflows, { namespace: catalogIn }),
    context.rules(),
    context.kinds(),
  ]);
  const ids = [...new Set(items.map(({ spec }) => spec.workflowId))].sort();
  const findWorkflow = (id: string) =>
    currentEntry(
      items.filter(({ spec }) => spec.workflowId === id),
      kinds,
    );
  const ruleContext = { kinds, workflow: findWorkflow, settings };
  const unusable = items.flatMap(({ spec, status }) =>
    (status?.problems ?? []).map((problem) => `workflow ${spec.workflowId} ${spec.version}: ${problem}`),
  );
  const unfit = rules.flatMap((rule) =>
    ruleProblems(rule, ruleContext).map((problem) => `rule ${rule.name}: ${problem}`),
  );
  return {
    workflows: ids.flatMap((id) => {
      const entry = findWorkflow(id);
      return entry ? [toWorkflow(entry, catalogDefaults.engine)] : [];
    }),
    rules: rules.map(({ name, workflow, observe = false }) => ({ name, workflow, observe })),
    problems: [...problems, ...unusable, ...unfit],
  };
}

function toWorkflow({ spec }: RemediationWorkflow, engine: string): Catalog["workflows"][number] {
  const { workflowId: id, version, description, approval, targetKinds, parameters } = spec;
  const required = new Set(parameters?.required ?? []);
  return {
    id,
    version,
    engine: spec.engine ?? engine,
    description,
    needsApproval: approval?.required ?? false,
    ...(targetKinds ? { targetKinds } : {}),
    parameters: Object.entries(parameters?.properties ?? {}).map(([name, given]) => ({
      name,
      type: given.type,
      required: required.has(name),
      ...(given.description === undefined ? {} : { description: given.description }),
      // A default of a secret is a secret.
      ...(given.default === undefined || given.secret ? {} : { default: toText(given.default) }),
      ...(given.enum === undefined ? {} : { options: given.enum.map(toText) }),
      ...(given.pattern === undefined ? {} : { pattern: given.pattern }),
      ...(given.secret ? { isSecret: true } : {}),
    })) satisfies readonly WorkflowParameter[],
  };
}

/** In the syntax of the command line. */
function toText(value: ParameterValue): string {
  return typeof value === "object" ? value.join(",") : String(value);
}
