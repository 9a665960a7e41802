import type { ParameterValue } from "../../resources/index.ts";
import type { RunOrder } from "../engine.ts";
import { podSecurity } from "../pods.ts";
import { runInputs, runMetadata } from "../run-marks.ts";
import { type Container, type Job, jobs } from "./job.ts";

/** The only container of a Job's pod: what people see as the step that failed. */
export const containerName = "workflow";

/** How much longer than its pod a Job may take. */
const graceSeconds = 60;

/**
 * The Job for an order: the workflow's image, tried once, as an ordinary user without privileges. It waits to be
 * started.
 */
export function jobFor(order: RunOrder): Job {
  const metadata = runMetadata(order, "job");
  const { serviceAccountName } = order.workflow;
  const timeoutSeconds = Math.max(1, Math.ceil(order.timeoutMs / 1_000));
  return {
    apiVersion: jobs.apiVersion,
    kind: jobs.kind,
    metadata,
    spec: {
      suspend: true,
      // What may have changed something is not repeated, and never is there a second pod while the first still ends.
      backoffLimit: 0,
      podReplacementPolicy: "Failed",
      podFailurePolicy: {
        rules: [{ action: "FailJob", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
      },
      // The pod's own deadline comes first: its pod stays, and shows whether anything had begun. This one is for
      // pods that no node ever took.
      activeDeadlineSeconds: timeoutSeconds + graceSeconds,
      ttlSecondsAfterFinished: Math.ceil(order.keepMs / 1_000),
      template: {
        metadata: { labels: metadata.labels },
        spec: {
          ...(serviceAccountName && { serviceAccountName }),
          restartPolicy: "Never",
          activeDeadlineSeconds: timeoutSeconds,
          securityContext: podSecurity,
          containers: [containerFor(order)],
          volumes: [{ name: "tmp", emptyDir: {} }],
        },
      },
    },
  };
}

function containerFor(order: RunOrder): Container {
  const variables = { HOME: "/tmp", TMPDIR: "/tmp", ...runInputs(order) };
  const { args } = order.workflow;
  return {
    name: containerName,
    image: order.workflow.containerImage,
    ...(args && { args: args.map(literal) }),
    env: Object.entries(variables).map(([name, value]) => ({ name, value: variable(value) })),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  };
}

/** A list as JSON. */
function variable(value: ParameterValue): string {
  return literal(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** Kubernetes would replace `$(NAME)` in a value and make one dollar of two, so each is doubled. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}
