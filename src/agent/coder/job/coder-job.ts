import type { KubeObject } from "../../../kube/index.ts";
import { managedBy } from "../../../resources/index.ts";
import { fillCommand } from "../coder.ts";
import { podPaths } from "./messages.ts";

export interface CoderJobSettings {
  readonly namespace: string;
  readonly command: readonly string[];
  /** The image of the coder. Needs /bin/sh. */
  readonly image: string;
  /** The image of Interlock. */
  readonly ownImage: string;
  /** The Secret with the coder's variables, such as the key of its model. */
  readonly secret: string | undefined;
  /** The Secret with GitLab's token in `token`. */
  readonly tokenSecret: string;
  /** May create ConfigMaps, and nothing else. */
  readonly serviceAccount: string;
  readonly gitlabUrl: string;
  readonly timeoutMs: number;
  readonly maxDiskBytes: number;
  /** The value of `agent.network`. Only a NetworkPolicy can enforce it, by the label of the pods. */
  readonly network: "none" | "host";
  readonly resources: { readonly cpu: string; readonly memory: string };
}

/** Added for the containers that fetch and collect. */
const graceSeconds = 300;
const keepSeconds = 3_600;

/** The exit code of the coder is a result: only our own containers fail the pod. */
const script = `mkdir -p "$HOME" && cd "$1" || exit 125
shift
"$@" < ${podPaths.request}/request.json > ${podPaths.output}/stdout 2> ${podPaths.output}/stderr
printf '%s' "$?" > ${podPaths.output}/code`;

/** The label of each coder pod, with `none` or `host`, for a NetworkPolicy to select. */
export const coderNetworkLabel = "kubernaut.ai/coder-network";

const user = 65_532;

/** A suspended Job: `fetch` has GitLab's token, the coder has none, and `collect` has its service account. */
export function coderJob(name: string, taskUid: string, settings: CoderJobSettings): KubeObject {
  const seconds = Math.ceil(settings.timeoutMs / 1_000);
  const labels = { [managedBy.label]: managedBy.value };
  const podSpec = {
    serviceAccountName: settings.serviceAccount,
    automountServiceAccountToken: false,
    restartPolicy: "Never",
    activeDeadlineSeconds: seconds + graceSeconds,
    securityContext: {
      ...{ runAsNonRoot: true, runAsUser: user, runAsGroup: user, fsGroup: user },
      seccompProfile: { type: "RuntimeDefault" },
    },
    initContainers: [fetchContainer(settings), coderContainer(settings)],
    containers: [collectContainer(name, settings)],
    volumes: podVolumes(name, settings),
  };
  const spec = {
    suspend: true,
    backoffLimit: 0,
    podReplacementPolicy: "Failed",
    activeDeadlineSeconds: seconds + 2 * graceSeconds,
    ttlSecondsAfterFinished: keepSeconds,
    template: { metadata: { labels: { ...labels, [coderNetworkLabel]: settings.network } }, spec: podSpec },
  };
  const annotations = { "kubernaut.ai/coding-task-uid": taskUid };
  const metadata = { name, namespace: settings.namespace, labels, annotations };
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec } as KubeObject;
}

const confined = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

const mount = (name: string, mountPath: string) => ({ name, mountPath });

function fetchContainer({ ownImage, gitlabUrl }: CoderJobSettings) {
  return {
    name: "fetch",
    image: ownImage,
    args: ["coder", "fetch"],
    env: [
      { name: "GITLAB_URL", value: gitlabUrl },
      { name: "GITLAB_TOKEN_FILE", value: `${podPaths.token}/token` },
    ],
    securityContext: confined,
    volumeMounts: [
      ...[mount("work", podPaths.work), mount("tree", podPaths.tree), mount("order", podPaths.order)],
      ...[mount("token", podPaths.token), mount("tmp", "/tmp")],
    ],
  };
}

function coderContainer({ image, command, secret, timeoutMs, resources }: CoderJobSettings) {
  const argv = fillCommand(command, { workTree: podPaths.tree, requestFile: `${podPaths.request}/request.json` });
  const seconds = String(Math.ceil(timeoutMs / 1_000));
  return {
    name: "coder",
    image,
    command: ["/bin/sh", "-c", script, "coder", podPaths.tree, "timeout", "-s", "KILL", seconds, ...argv],
    env: [
      { name: "HOME", value: "/tmp/home" },
      { name: "TMPDIR", value: "/tmp" },
    ],
    ...(secret && { envFrom: [{ secretRef: { name: secret } }] }),
    resources: { limits: resources },
    securityContext: confined,
    volumeMounts: [
      ...[mount("tree", podPaths.tree), mount("request", podPaths.request)],
      ...[mount("output", podPaths.output), mount("tmp", "/tmp")],
    ],
  };
}

function collectContainer(job: string, { ownImage, namespace, secret }: CoderJobSettings) {
  const uid = { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" } };
  return {
    name: "collect",
    image: ownImage,
    args: ["coder", "collect"],
    env: [
      { name: "CODER_JOB", value: job },
      { name: "CODER_JOB_UID", valueFrom: uid },
      { name: "CODER_NAMESPACE", value: namespace },
      { name: "OBJECTS_SERVER", value: "in-cluster" },
    ],
    securityContext: confined,
    volumeMounts: [
      ...[mount("work", podPaths.work), mount("tree", podPaths.tree), mount("order", podPaths.order)],
      ...[mount("output", podPaths.output), mount("account", podPaths.account), mount("tmp", "/tmp")],
      ...(secret ? [mount("coder-secret", podPaths.coderSecret)] : []),
    ],
  };
}

function podVolumes(name: string, { secret, tokenSecret, maxDiskBytes }: CoderJobSettings) {
  const scratch = (volume: string) => ({ name: volume, emptyDir: { sizeLimit: String(maxDiskBytes) } });
  const inputVolume = (volume: string, key: string) => ({
    name: volume,
    configMap: { name, items: [{ key, path: key }] },
  });
  const account = [
    { serviceAccountToken: { path: "token", expirationSeconds: 3_600 } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
  ];
  return [
    ...["work", "tree", "output", "tmp"].map(scratch),
    ...[inputVolume("order", "order.json"), inputVolume("request", "request.json")],
    { name: "token", secret: { secretName: tokenSecret, items: [{ key: "token", path: "token" }] } },
    { name: "account", projected: { sources: account } },
    // Optional: without the Secret the container of the coder does not start, and its status shows why; a volume would not.
    ...(secret ? [{ name: "coder-secret", secret: { secretName: secret, optional: true } }] : []),
  ];
}
