import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../../src/engines/job/job.ts";
import type { ContainerStatus } from "../../src/engines/pods.ts";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import type { Clock } from "../../src/time/index.ts";
import type { Ending } from "./behaviour.ts";
import { timeText } from "./run-controller.ts";

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string; readonly items: readonly { readonly key: string }[] };
  readonly secret?: { readonly secretName: string };
}

export interface PodRunnerOptions {
  readonly client: KubeClient;
  /** What images start with, before their arguments. */
  readonly entrypoints: Readonly<Record<string, readonly string[]>>;
  /** Added to the environment of every container, as a node does. */
  readonly env: Readonly<Record<string, string>>;
  /** The keys of each Secret, by its name. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** For volumes. */
  readonly directory: string;
  readonly clock: Clock;
  readonly problem: (message: string) => void;
}

/**
 * Runs the containers of a Job's pod one after the other as real processes, each with its volumes at their places, in
 * namespaces of mounts and processes of its own. What is not mounted there is not there: /run is empty else.
 */
export function podRunner(options: PodRunnerOptions): (job: Job, signal: AbortSignal) => Promise<Ending> {
  return async (job, signal) => {
    const spec = job.spec.template.spec as unknown as {
      readonly initContainers: readonly Container[];
      readonly containers: readonly Container[];
      readonly volumes: readonly Volume[];
    };
    const place = await mkdtemp(join(options.directory, "pod-"));
    try {
      for (const volume of spec.volumes) await fill(join(place, volume.name), volume, job, options);
      const initContainerStatuses: ContainerStatus[] = [];
      for (const container of [...spec.initContainers, ...spec.containers]) {
        const startedAt = timeText(options.clock);
        const exitCode = await run(container, place, job, options, signal);
        const reason = exitCode === 0 ? "Completed" : "Error";
        const terminated = { exitCode, reason, startedAt, finishedAt: timeText(options.clock) };
        if (spec.initContainers.includes(container)) {
          initContainerStatuses.push({ name: container.name, state: { terminated } });
        }
        if (exitCode !== 0) return { exitCode, reason: "Error", initContainerStatuses };
      }
      return { exitCode: 0, reason: "Completed", initContainerStatuses };
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  };
}

const configMaps = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

async function fill(path: string, { configMap, secret }: Volume, job: Job, { client, secrets }: PodRunnerOptions) {
  await mkdir(path, { mode: 0o777 });
  for (const [key, value] of Object.entries(secrets[secret?.secretName ?? ""] ?? {}))
    await writeFile(join(path, key), value);
  if (!configMap) return;
  const ref = { namespace: job.metadata.namespace ?? "", name: configMap.name };
  const found = await client.get(configMaps as ResourceType<KubeObject & { data: Record<string, string> }>, ref);
  for (const { key } of configMap.items) await writeFile(join(path, key), found?.data[key] ?? "");
}

const script = `mount -t tmpfs none /run || exit 125
while [ "$1" != -- ]; do mkdir -p "$2" 2>/dev/null; [ "$2" = /tmp ] || mount --bind "$1" "$2" || exit 125; shift 2; done
shift
"$@"`;

async function run(container: Container, place: string, job: Job, options: PodRunnerOptions, signal: AbortSignal) {
  if (signal.aborted) return 143;
  const given = [
    ...(container.envFrom ?? []).flatMap(({ secretRef }) => Object.entries(options.secrets[secretRef.name] ?? {})),
    ...container.env.map(({ name, value }) => [name, value ?? job.metadata.uid ?? ""] as const),
  ];
  const home = join(place, "tmp");
  const env = { PATH: process.env["PATH"] ?? "", ...Object.fromEntries(given), TMPDIR: home, ...options.env };
  const argv = [...(container.command ?? options.entrypoints[container.image] ?? []), ...(container.args ?? [])];
  const mounts = container.volumeMounts
    .filter(({ name }) => name !== "account")
    .flatMap(({ name, mountPath }) => [join(place, name), mountPath]);
  const flags = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const child = spawn("unshare", [...flags, "sh", "-c", script, "sh", ...mounts, "--", ...argv], {
    env: { ...env, HOME: home },
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (data) => {
    output += data;
  });
  const stop = () => child.pid && process.kill(-child.pid, "SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  const [code] = (await once(child, "close")) as [number | null];
  signal.removeEventListener("abort", stop);
  if (code !== 0 && !signal.aborted) options.problem(`${container.name} ended with ${code}: ${output}`);
  return code ?? 137;
}
