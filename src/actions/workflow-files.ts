import type { KubeObject } from "../kube/index.ts";
import {
  entryName,
  executionNamespace,
  type RemediationWorkflowSpec,
  remediationWorkflows,
  reservedParameters,
} from "../resources/index.ts";
import type { ActionDescription, Right } from "./action.ts";
import { maxWaitSeconds, parameterSchema } from "./read-inputs.ts";

/** Names in the shipped files of an action, which an operator may replace. */
export interface WorkflowFileOptions {
  readonly image: string;
  /** The OCI bundle that the Pipeline is pushed to. */
  readonly bundle: string;
  readonly catalogNamespace: string;
}

/** The files of an action's folder by name, each as the documents in it. */
export function workflowFiles(
  action: ActionDescription,
  { image, bundle, catalogNamespace }: WorkflowFileOptions,
): ReadonlyMap<string, readonly object[]> {
  const inCluster = { serviceAccountName: serviceAccount(action) };
  const entry = (spec: Partial<RemediationWorkflowSpec>) => catalogEntry(action, spec, catalogNamespace);
  const { name } = action;
  return new Map<string, readonly object[]>([
    ["workflow.yaml", [workflowSpec(action, { engine: "local" })]],
    // The local engine sets the variables of every run itself.
    ["pipeline.yaml", [pipeline(action, { command: ["interlock"], args: ["action", name] }, [])]],
    ["job.yaml", [entry({ engine: "job", containerImage: image, args: ["action", name], ...inCluster })]],
    ["tekton.yaml", [entry({ engine: "tekton", containerImage: bundle, ...inCluster })]],
    ["bundle.yaml", [pipeline(action, { image, args: ["action", name], ...restricted }, reservedParameters)]],
    ["rbac.yaml", rbac(action)],
  ]);
}

/** Required of every container in the namespace of runs. */
const restricted = {
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  },
};

function workflowSpec(action: ActionDescription, special: Partial<RemediationWorkflowSpec>): object {
  const { name, version, description, targetKinds, cooldown } = action;
  return {
    workflowId: name,
    version,
    description,
    ...special,
    ...(targetKinds && { targetKinds }),
    cooldown,
    timeout,
    parameters: parameterSchema(action),
  };
}

/** Longer than `waitSeconds` can be, so that an action that waits too long ends itself, with a reason. */
const timeout = `${maxWaitSeconds / 60 + 5}m`;

function catalogEntry(action: ActionDescription, special: Partial<RemediationWorkflowSpec>, namespace: string): object {
  const { apiVersion, kind } = remediationWorkflows;
  const name = entryName({ workflowId: action.name, version: action.version });
  return { apiVersion, kind, metadata: { name, namespace }, spec: workflowSpec(action, special) };
}

/** Values reach the step as environment variables, never as text of a command. */
function pipeline(
  action: ActionDescription,
  step: Readonly<Record<string, unknown>>,
  reserved: readonly string[],
): object {
  const { properties } = parameterSchema(action);
  const own = Object.entries(properties).map(([name, { description, default: value }]) => ({
    name,
    type: "string",
    ...(description && { description }),
    ...(value !== undefined && { default: String(value) }),
  }));
  const given = reserved.map((name) => ({ name, type: "string" }));
  const names = [...own, ...given].map(({ name }) => name);
  return {
    apiVersion: "tekton.dev/v1",
    kind: "Pipeline",
    metadata: { name: "workflow" },
    spec: {
      description: action.description,
      params: [...own, ...given],
      tasks: [
        {
          name: action.name,
          params: names.map((name) => ({ name, value: `$(params.${name})` })),
          taskSpec: {
            params: names.map((name) => ({ name, type: "string" })),
            steps: [{ name: "act", ...step, env: names.map((name) => ({ name, value: `$(params.${name})` })) }],
          },
        },
      ],
    },
  };
}

/** The service account of an action's runs. */
function serviceAccount({ name }: ActionDescription): string {
  return `interlock-action-${name}`;
}

const authorization = "rbac.authorization.k8s.io";

/** The service account with the rights of the action, and no others. */
function rbac(action: ActionDescription): readonly object[] {
  const name = serviceAccount(action);
  const account = { kind: "ServiceAccount", name, namespace: executionNamespace };
  const anywhere = action.rights.filter(({ where }) => where !== "runs").map(toRule);
  const inRuns = action.rights.filter(({ where }) => where === "runs").map(toRule);
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: executionNamespace } },
    ...(anywhere.length > 0 ? roleAndBinding("Cluster", { name }, anywhere, account) : []),
    ...(inRuns.length > 0 ? roleAndBinding("", { name, namespace: executionNamespace }, inRuns, account) : []),
  ];
}

function roleAndBinding(
  scope: "Cluster" | "",
  metadata: KubeObject["metadata"],
  rules: readonly object[],
  account: object,
): readonly object[] {
  const apiVersion = `${authorization}/v1`;
  const roleRef = { apiGroup: authorization, kind: `${scope}Role`, name: metadata.name };
  return [
    { apiVersion, kind: `${scope}Role`, metadata, rules },
    { apiVersion, kind: `${scope}RoleBinding`, metadata, roleRef, subjects: [account] },
  ];
}

function toRule({ group, resource, verbs, name }: Right): object {
  return { apiGroups: [group], resources: [resource], verbs, ...(name && { resourceNames: [name] }) };
}
