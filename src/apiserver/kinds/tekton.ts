import type { CustomResourceDefinition, PrinterColumn } from "../../kube/index.ts";
import { customResources } from "./custom.ts";

/** tekton.dev/v1 without Tekton's schemas: objects are stored as sent. A definition in the store replaces these. */
export const tektonKinds = [
  { kind: "PipelineRun", plural: "pipelineruns", shortNames: ["pr", "prs"] },
  { kind: "TaskRun", plural: "taskruns", shortNames: ["tr", "trs"] },
  { kind: "Pipeline", plural: "pipelines", shortNames: [] },
  { kind: "Task", plural: "tasks", shortNames: [] },
].flatMap(({ kind, plural, shortNames }) => customResources(definition(kind, plural, shortNames), 0));

function definition(kind: string, plural: string, shortNames: readonly string[]): CustomResourceDefinition {
  const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
  const succeeded = '.status.conditions[?(@.type=="Succeeded")]';
  const columns: readonly PrinterColumn[] = [
    { name: "Succeeded", type: "string", jsonPath: `${succeeded}.status` },
    { name: "Reason", type: "string", jsonPath: `${succeeded}.reason` },
    { name: "StartTime", type: "date", jsonPath: ".status.startTime" },
    { name: "CompletionTime", type: "date", jsonPath: ".status.completionTime" },
  ];
  const isRun = kind.endsWith("Run");
  return {
    metadata: { name: `${plural}.tekton.dev` },
    spec: {
      group: "tekton.dev",
      scope: "Namespaced",
      names: { kind, plural, shortNames, categories: ["tekton", "tekton-pipelines"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: free, status: free } } },
          ...(isRun ? { subresources: { status: {} }, additionalPrinterColumns: columns } : {}),
        },
      ],
    },
  };
}
