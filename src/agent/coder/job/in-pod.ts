import { constants } from "node:fs";
import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ifMissing } from "../../../disk/index.ts";
import type { KubeClient } from "../../../kube/index.ts";
import { withoutSecrets } from "../../../telemetry/index.ts";
import { createPreparedPatch, type PreparedTreeOptions, prepareTree } from "../../git/prepared-tree.ts";
import type { GitServer } from "../../git/server.ts";
import { refuseSecrets } from "../conclude.ts";
import { diskUse } from "../disk-use.ts";
import { configMaps, type PodOrder, type PodResult, podPaths, writeResult } from "./messages.ts";

type TreeOptions = Omit<PreparedTreeOptions, "directory">;

/** The work of the container `fetch`. */
export async function fetchInPod(server: GitServer, options: TreeOptions): Promise<void> {
  await prepareTree(await podOrder(), server, { ...options, directory: podPaths.work });
  await writeFile(filesBefore, String((await diskUse(coderFolders())).files));
}

/** The number of files before the coder started, where the coder cannot change it. */
const filesBefore = join(podPaths.work, "files-before");

/** HOME is in the folder for temporary files. */
function coderFolders(): readonly string[] {
  return [podPaths.tree, tmpdir()];
}

/** The work of the container `collect`. An existing result stays: it is from this container. */
export async function collectInPod(job: PodJob, client: KubeClient, options: TreeOptions): Promise<void> {
  const { name, uid, namespace } = job;
  const result = writeResult(await podResult(await podOrder(), options));
  const owner = { apiVersion: "batch/v1", kind: "Job", name, uid };
  const metadata = { name: `${name}-result`, namespace, ownerReferences: [owner] };
  const { apiVersion, kind } = configMaps;
  await client.create(configMaps, { apiVersion, kind, metadata, ...result });
}

export interface PodJob {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
}

async function podOrder(): Promise<PodOrder> {
  return JSON.parse(await readFile(join(podPaths.order, "order.json"), "utf8")) as PodOrder;
}

async function podResult(order: PodOrder, options: TreeOptions): Promise<PodResult> {
  const { edits, maxOutputBytes, maxAddedFiles, patch } = order;
  const [code, stdout, stderr] = await Promise.all([readOutput("code"), readOutput("stdout"), readOutput("stderr")]);
  const outputTooLarge = stdout.size + stderr.size > maxOutputBytes;
  const added = (await diskUse(coderFolders())).files - Number(await readFile(filesBefore, "utf8"));
  const tooManyFiles = added > maxAddedFiles;
  const secrets = await coderSecrets();
  const reading =
    edits && !tooManyFiles ? await createPreparedPatch(patch, { ...options, directory: podPaths.work }) : undefined;
  const checked = reading && refuseSecrets(reading, secrets);
  const change = checked?.kind === "patch" ? ({ kind: "patch", bytes: checked.patch.bytes } as const) : checked;
  return {
    code: Number.parseInt(code.end, 10),
    stdout: withoutSecrets(stdout.end, secrets),
    stderr: withoutSecrets(stderr.end, secrets).slice(-2_000),
    ...{ outputTooLarge, tooManyFiles },
    change: change ?? { kind: "nothing" },
  };
}

/**
 * The values of the coder's Secret. Only this pod has them: the agent may read no Secrets, so its own redaction does not
 * cover them. Each line counts, as in a key of several lines; shorter values occur in everything.
 */
async function coderSecrets(): Promise<readonly string[]> {
  const names = await readdir(podPaths.coderSecret).catch(ifMissing([]));
  // The kubelet keeps the files of a Secret in folders whose names begin so.
  const files = names.filter((name) => !name.startsWith(".."));
  const texts = await Promise.all(files.map((name) => readFile(join(podPaths.coderSecret, name), "utf8")));
  const values = texts.flatMap((text) => [text.trim(), ...text.split("\n").map((line) => line.trim())]);
  return [...new Set(values)].filter(({ length }) => length >= 8);
}

/** The result is at the end of the output. */
const keptBytes = 200_000;

/** Opened without following links and without waiting for a pipe: the coder may have created anything there. */
async function readOutput(name: string): Promise<{ size: number; end: string }> {
  await using file = await open(
    join(podPaths.output, name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  const found = await file.stat();
  if (!found.isFile()) throw new Error(`the coder replaced its ${name} by something that is not a file`);
  const start = Math.max(0, found.size - keptBytes);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(found.size - start), 0, found.size - start, start);
  return { size: found.size, end: buffer.toString("utf8", 0, bytesRead) };
}
