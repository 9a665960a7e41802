import type { ParameterValue } from "../../resources/index.ts";
import type { RunOrder } from "../engine.ts";
import { podSecurity } from "../pods.ts";
import { runInputs, runMetadata } from "../run-marks.ts";
import { type Container, type Job, jobs } from "./job.ts";

/** The only container of a Job's pod. Users see its name as the step that failed. */
export const containerName = "workflow";

/** The deadline of a Job is this much later than that of its pod. */
const graceSeconds = 60;

/** Returns the suspended Job for an order: one attempt of the workflow's image, as an unprivileged user. */
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
      // A pod may have changed something, so it is not retried. There is never a second pod while the first one is ending.
      backoffLimit: 0,
      podReplacementPolicy: "Failed",
      podFailurePolicy: {
        rules: [{ action: "FailJob", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
      },
      // The pod's own deadline comes first: then the pod is kept, and shows whether a step had begun. This one ends pods that are
      // never scheduled.
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

/** Doubles each dollar: Kubernetes replaces `$(NAME)` in values, and reduces two dollars to one. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}
