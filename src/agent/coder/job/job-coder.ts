import { isCoordinationError } from "../../../coordination/index.ts";
import { type Engine, jobEngine, listJobPods, type Pod } from "../../../engines/index.ts";
import { type KubeClient, KubeError, type KubeObject, nameHash, type ObjectRef } from "../../../kube/index.ts";
import { type Clock, sleep, timeLimit } from "../../../time/index.ts";
import { checkPatch } from "../../git/parse-patch.ts";
import type { PatchLimits, PatchReading } from "../../git/workshop.ts";
import { cleanText } from "../clean-text.ts";
import type { Coder, CoderOrder, CoderOutcome } from "../coder.ts";
import { coderFailure, describeExit, toOutcome } from "../conclude.ts";
import { type CoderJobSettings, coderJob } from "./coder-job.ts";
import { type ConfigMap, configMaps, largestMessage, type PodOrder, type PodResult, readResult } from "./messages.ts";
import { explainFailure, explainKill, type PodEnd } from "./pod-end.ts";

export interface JobCoderOptions {
  readonly client: KubeClient;
  readonly settings: CoderJobSettings;
  readonly maxOutputBytes: number;
  readonly maxAddedFiles: number;
  readonly patch: PatchLimits;
  readonly secrets: () => Promise<readonly string[]>;
  readonly clock: Clock;
}

/**
 * Runs the coder in a Job. The name of the Job is derived from the task, the commit and the request: a repeated run
 * finds the running Job, or its result while that is kept. A failed Job is deleted, so the next run creates a new one.
 */
export function jobCoder(options: JobCoderOptions): Coder {
  return { run: (order, signal) => new JobRun(order, options).run(signal) };
}

class JobRun {
  readonly #order: CoderOrder;
  readonly #options: JobCoderOptions;
  readonly #engine: Engine;
  readonly #ref: Required<ObjectRef>;

  constructor(order: CoderOrder, options: JobCoderOptions) {
    this.#order = order;
    this.#options = options;
    this.#engine = jobEngine(options.client);
    const name = `coder-${nameHash(JSON.stringify([order.taskUid, order.sha, order.request])).slice(0, 32)}`;
    this.#ref = { namespace: options.settings.namespace, name };
  }

  async run(signal: AbortSignal): Promise<CoderOutcome> {
    const input = {
      "request.json": JSON.stringify(this.#order.request),
      "order.json": JSON.stringify(this.#podOrder()),
    };
    if (Buffer.byteLength(input["request.json"]) > largestMessage) {
      return coderFailure("NotStarted", `The request is larger than a Job accepts, ${largestMessage} bytes.`);
    }
    try {
      const job = await this.#awaitJob(input, signal);
      const outcome = await this.#readOutcome(job, signal);
      if (outcome.kind === "failed") await this.#delete(job);
      return outcome;
    } catch (error) {
      // The next holder of a lost lock adopts the Job, and may be waiting for it already.
      if (signal.aborted && !isCoordinationError(signal.reason, "lost")) await this.#stop();
      throw error;
    }
  }

  #podOrder(): PodOrder {
    const { repository, sha, ref, request } = this.#order;
    const { maxOutputBytes, maxAddedFiles, patch } = this.#options;
    return { repository, sha, ref, edits: request.kind === "edit", maxOutputBytes, maxAddedFiles, patch };
  }

  /** Creates, supplies, starts and awaits the Job, and skips the steps that are done. Returns the finished Job. */
  async #awaitJob(input: Record<string, string>, signal: AbortSignal): Promise<KubeObject> {
    const { client, settings } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const job = await client.get(this.#engine.runs, this.#ref, { signal });
      if (!job) {
        await client.create(this.#engine.runs, coderJob(this.#ref.name, this.#order.taskUid, settings), { signal });
        continue;
      }
      const { kind } = this.#engine.stateOf(job);
      const isLeaving = job.metadata.deletionTimestamp !== undefined;
      if (!isLeaving && (kind === "succeeded" || kind === "failed")) return job;
      if (!isLeaving && kind === "suspended") {
        await this.#storeInput(job, input, signal);
        await client.patch(this.#engine.runs, this.#ref, this.#engine.start(job), { signal });
        continue;
      }
      await this.#awaitChange(job, signal);
    }
  }

  /** Stores the input before the Job starts, owned by the Job. The input of a former Job of that name is replaced. */
  async #storeInput({ metadata: { uid = "" } }: KubeObject, data: Record<string, string>, signal: AbortSignal) {
    const { client } = this.#options;
    const { apiVersion, kind } = configMaps;
    const ownerReferences = [{ apiVersion: "batch/v1", kind: "Job", name: this.#ref.name, uid }];
    const map: ConfigMap = { apiVersion, kind, metadata: { ...this.#ref, ownerReferences }, data };
    for (;;) {
      if ((await client.create(configMaps, map, { signal })).kind === "created") return;
      const found = await client.get(configMaps, this.#ref, { signal });
      if (found?.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return;
      const old = found?.metadata.uid;
      if (old) await client.delete(configMaps, this.#ref, { preconditions: { uid: old } }, { signal });
    }
  }

  async #readOutcome(job: KubeObject, signal: AbortSignal): Promise<CoderOutcome> {
    const { client, settings, patch, secrets, maxAddedFiles } = this.#options;
    if (this.#engine.stateOf(job).kind === "failed") return await this.#readFailure(job, signal);
    const resultRef = { ...this.#ref, name: `${this.#ref.name}-result` };
    const found = await client.get(configMaps, resultRef, { signal });
    const isOurs = found?.metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid);
    const result = found && isOurs ? readResult(found, patch.maxBytes) : undefined;
    if (!result) return coderFailure("BadAnswer", `The Job ${this.#ref.name} succeeded, but left no readable result.`);
    if (result.outputTooLarge) return coderFailure("OutputTooLarge", "The coder wrote more than agent.maxOutput.");
    if (result.tooManyFiles)
      return coderFailure(
        "WorkTreeTooLarge",
        `The coder created more than ${maxAddedFiles} files, see agent.maxDiskFiles.`,
      );
    if (result.code === 137) {
      return await this.#toFailure("The coder", explainKill(await this.#readPod(job, signal), settings));
    }
    const secretTexts = await secrets();
    if (result.code === 126 || result.code === 127)
      return coderFailure("NotStarted", describeExit("could not be started", result, secretTexts));
    if (result.code !== 0)
      return coderFailure("ExitCode", describeExit(`exited with code ${result.code}`, result, secretTexts));
    const change = async () => this.#checkChange(result.change);
    return await toOutcome(this.#order.request.kind, result.stdout, { secrets: secretTexts, change });
  }

  /** The result of the pod is checked again: the coder ran beside the container that created it. */
  #checkChange(change: PodResult["change"]): PatchReading {
    if (change.kind !== "patch") return change;
    return checkPatch({ base: this.#order.sha, bytes: change.bytes }, this.#options.patch);
  }

  async #readFailure(job: KubeObject, signal: AbortSignal): Promise<CoderOutcome> {
    const failure = await this.#engine.readFailure(job, signal);
    const end = explainFailure(await this.#readPod(job, signal), failure, this.#options.settings);
    return await this.#toFailure(end.reason === "OOMKilled" ? "The coder" : `The Job ${this.#ref.name}`, end);
  }

  async #toFailure(who: string, { reason, message }: PodEnd): Promise<CoderOutcome> {
    return coderFailure(reason, `${who} ${cleanText(message, 500, await this.#options.secrets())}.`);
  }

  /** The Job has one pod, unless another client deletes it. */
  async #readPod(job: KubeObject, signal: AbortSignal): Promise<Pod | undefined> {
    return (await listJobPods(this.#options.client, job, signal))?.[0];
  }

  /** Does not wait for the end of the deletion, which a lost node can delay: the next run of that name does. */
  async #delete({ metadata: { uid = "" } }: KubeObject): Promise<void> {
    const options = { preconditions: { uid }, propagation: "Foreground" } as const;
    await this.#options.client.delete(this.#engine.runs, this.#ref, options);
  }

  /** Called after an abort: nothing of the Job is running when this returns. */
  async #stop(): Promise<void> {
    const { client, clock } = this.#options;
    const giveUpAt = clock.now() + maxStopMs;
    while (clock.now() < giveUpAt) {
      const job = await client.get(this.#engine.runs, this.#ref);
      if (!job) return;
      const { kind } = this.#engine.stateOf(job);
      if (kind === "succeeded") return;
      if (kind === "failed" && !(await this.#engine.readFailure(job)).unfinished) return await this.#delete(job);
      if (kind !== "failed") await client.patch(this.#engine.runs, this.#ref, this.#engine.cancel(job));
      await sleep(clock, 200);
    }
    throw new Error(`the Job ${this.#ref.namespace}/${this.#ref.name} does not stop; delete it`);
  }

  /** Waits until the Job may have changed: a watch can end and fall behind. */
  async #awaitChange({ metadata: { resourceVersion = "" } }: KubeObject, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    using limit = timeLimit(clock, lookAgainMs, signal);
    const { namespace, name } = this.#ref;
    const query = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion };
    try {
      for await (const _ of client.watch(this.#engine.runs, query, { signal: limit.signal })) return;
    } catch (error) {
      if (!(error instanceof KubeError) || !["gone", "unavailable"].includes(error.code)) throw error;
      // A server that restarts cuts its watches. The next read shows whether it responds.
      if (error.code === "unavailable") await sleep(clock, watchAgainMs, signal);
    }
  }
}

const lookAgainMs = 30_000;
const watchAgainMs = 1_000;
const maxStopMs = 120_000;
