import { type KubeClient, type KubeObject, kubeEvents, type ResourceType, type StallWatch } from "../kube/index.ts";
import { findStall, notificationRequests, type Stall, type StallReason, stallReasons } from "../resources/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Timer } from "../time/index.ts";
import { classifyError, errorText } from "./classify-error.ts";
import { decideReport, notifyAfterMs } from "./decide-report.ts";
import { type StalledObject, stallEvent, stallNotice } from "./stall-notice.ts";
import { type Stateful, writeCondition } from "./write-condition.ts";

export interface StallReporterOptions {
  /** The stage that reports. */
  readonly stage: string;
  /** The prefix of the metrics. Default: the stage. */
  readonly metricPrefix?: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The objects that one controller reconciles. */
export interface StalledSubject<T extends KubeObject> {
  readonly type: ResourceType<T>;
  /** In the singular: `execution`. */
  readonly noun: string;
  /** Returns the object of a key from a cache; undefined if there is none. */
  find(key: string): T | undefined;
  /** Redacts secrets of the object in an error message. */
  readonly redact?: (text: string, object: T | undefined) => string | Promise<string>;
  /** The status to write with the condition if the object has none yet. */
  readonly initialStatus?: { readonly phase: string };
  /** False for a stage that must not write the status of its objects, or whose stalls are failures of that write. Default true. */
  readonly hasConditions?: boolean;
}

/**
 * Reports work that keeps failing: by a condition of the object, an Event, after two minutes a notice, and in metrics. Reports are
 * written in the background and never delay the work.
 */
export interface StallReporter {
  watch<T extends KubeObject>(subject: StalledSubject<T>): StallWatch;
  /** Why stalls cannot be recorded, for readiness; undefined while they can. */
  readonly problem: string | undefined;
  /** Waits for the reports in progress, and starts no more. */
  stop(): Promise<void>;
}

export function stallReporter(options: StallReporterOptions): StallReporter {
  const watches: Watch<KubeObject>[] = [];
  const { stage, metricPrefix = stage, metrics } = options;
  metrics.gauge(
    `${metricPrefix}_stalled_objects`,
    "Objects on which every attempt has failed for at least 5 seconds, by reason.",
    ({ reason }) => watches.reduce((sum, watch) => sum + watch.count(reason), 0),
    { reason: stallReasons },
  );
  metrics.gauge(`${metricPrefix}_stalls_unrecorded`, "Stalled objects whose condition could not be written.", () =>
    watches.reduce((sum, watch) => sum + watch.unrecorded, 0),
  );
  return {
    watch(subject) {
      const watch = new Watch(subject, options);
      watches.push(watch as unknown as Watch<KubeObject>);
      return watch;
    },
    get problem() {
      return watches.map(({ problem }) => problem).find((problem) => problem !== undefined);
    },
    async stop() {
      await Promise.all(watches.map((watch) => watch.stop()));
    },
  };
}

/** A key whose attempts fail. */
interface Failing {
  /** The latest failure. */
  error: unknown;
  stall: Omit<Stall, "error">;
  reported: Stall | undefined;
  /** Why its condition could not be written. */
  unrecorded: Pick<Stall, "reason" | "error"> | undefined;
  reporting: Promise<void> | undefined;
  readonly notifyTimer: Timer;
}

class Watch<T extends KubeObject> implements StallWatch {
  readonly #subject: StalledSubject<T>;
  readonly #options: StallReporterOptions;
  readonly #failing = new Map<string, Failing>();
  /** Reasons of which operators were notified, until the last stall for that reason ends. */
  readonly #notified = new Set<StallReason>();
  readonly #clearing = new Set<Promise<void>>();
  #stopped = false;

  constructor(subject: StalledSubject<T>, options: StallReporterOptions) {
    this.#subject = subject;
    this.#options = options;
  }

  get unrecorded(): number {
    return [...this.#failing.values()].filter(({ unrecorded }) => unrecorded !== undefined).length;
  }

  get problem(): string | undefined {
    const nowMs = this.#options.client.serverNowMs();
    for (const { unrecorded, stall } of this.#failing.values()) {
      if (!unrecorded || !serverReasons.has(unrecorded.reason) || nowMs - stall.sinceMs < notifyAfterMs) continue;
      return `work on ${this.#subject.noun}s is stalled, and that cannot be recorded: ${unrecorded.error}`;
    }
    return undefined;
  }

  count(reason: StallReason): number {
    return [...this.#failing.values()].filter(({ reported }) => reported?.reason === reason).length;
  }

  failed(key: string, error: unknown, nextAttemptInMs?: number): void {
    if (this.#stopped) return;
    const nowMs = this.#options.client.serverNowMs();
    const failing = this.#failing.get(key) ?? this.#newlyFailing(key, nowMs);
    const { reason: before } = failing.stall;
    failing.error = error;
    failing.stall = {
      reason: classifyError(error),
      sinceMs: failing.stall.sinceMs,
      ...(nextAttemptInMs === undefined ? {} : { nextAttemptMs: nowMs + nextAttemptInMs }),
    };
    if (failing.stall.reason !== before) this.#forgetEndedReasons();
    this.#report(key);
  }

  succeeded(key: string): number | undefined {
    const known = this.#failing.get(key);
    if (known) this.#forget(key, known);
    const object = this.#subject.find(key);
    if (!object || this.#stopped || this.#subject.hasConditions === false) return undefined;
    if (known?.reported) {
      this.#clear(object, known.reporting);
      return undefined;
    }
    const shown = findStall(object);
    if (!shown) return undefined;
    // Another replica, or another controller, may still fail. It updates its report soon after the attempt that the report
    // announces.
    const waitMs = (shown.nextAttemptMs ?? 0) + graceMs - this.#options.client.serverNowMs();
    if (waitMs > 0) return waitMs;
    this.#clear(object, undefined);
    return undefined;
  }

  /** Removes the condition, after a report in progress. The cache may not show the condition yet. */
  #clear(object: T, reporting: Promise<void> | undefined): void {
    const { client } = this.#options;
    const clearing = Promise.resolve(reporting)
      .then(() => writeCondition(object, undefined, { ...this.#subject, client }))
      .then(() => {})
      .catch((error: unknown) => this.#log("stalled condition not removed", object, error));
    this.#clearing.add(clearing);
    void clearing.finally(() => this.#clearing.delete(clearing));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { notifyTimer } of this.#failing.values()) notifyTimer.cancel();
    await Promise.all([...this.#clearing, ...[...this.#failing.values()].map(({ reporting }) => reporting)]);
  }

  #newlyFailing(key: string, sinceMs: number): Failing {
    const notifyTimer = this.#options.clock.after(notifyAfterMs, () => this.#report(key), { background: true });
    const stall = { reason: "Error", sinceMs } as const;
    const none = { error: undefined, reported: undefined, unrecorded: undefined, reporting: undefined };
    const failing: Failing = { ...none, stall, notifyTimer };
    this.#failing.set(key, failing);
    return failing;
  }

  #forget(key: string, { notifyTimer }: Failing): void {
    notifyTimer.cancel();
    this.#failing.delete(key);
    this.#forgetEndedReasons();
  }

  #forgetEndedReasons(): void {
    if (this.#notified.size === 0) return;
    const reasons = new Set([...this.#failing.values()].map(({ stall }) => stall.reason));
    for (const reason of this.#notified) if (!reasons.has(reason)) this.#notified.delete(reason);
  }

  /** Reports one key at a time. A change meanwhile is reported with the next attempt. */
  #report(key: string): void {
    const failing = this.#failing.get(key);
    if (!failing || failing.reporting || this.#stopped) return;
    failing.reporting = this.#reportNow(key, failing).finally(() => {
      failing.reporting = undefined;
    });
  }

  async #reportNow(key: string, failing: Failing): Promise<void> {
    const { stall, error, reported } = failing;
    const nowMs = this.#options.client.serverNowMs();
    const notified = this.#notified.has(stall.reason);
    const { writeCondition, recordEvent, notify } = decideReport({ nowMs, stall, reported, notified });
    const object = this.#subject.find(key);
    if (writeCondition) {
      const text = await errorText(error, (text) => this.#subject.redact?.(text, object) ?? text);
      failing.reported = { ...stall, error: text };
      if (object) failing.reported = await this.#record(object, failing.reported, failing);
    }
    if (recordEvent && object && failing.reported) await this.#recordEvent(object, failing.reported);
    if (notify) await this.#notify(stall.reason);
  }

  /** Writes the condition. Returns the stall in it: another process may have reported an earlier start. */
  async #record(object: T, stall: Stall, failing: Failing): Promise<Stall> {
    const { client } = this.#options;
    const { unrecorded: before } = failing;
    // Without a status there is no place for a condition.
    const { hasConditions = true, initialStatus } = this.#subject;
    if (!hasConditions || !((object as Stateful).status ?? initialStatus)) {
      failing.unrecorded = stall;
      return stall;
    }
    try {
      const sinceMs = (await writeCondition(object, stall, { ...this.#subject, client })) ?? stall.sinceMs;
      failing.unrecorded = undefined;
      failing.stall = { ...failing.stall, sinceMs };
      return { ...stall, sinceMs };
    } catch (error) {
      failing.unrecorded = { reason: classifyError(error), error: await errorText(error) };
      if (!before) this.#log("stalled condition not written", object, error);
      return stall;
    }
  }

  async #recordEvent(object: T, stall: Stall): Promise<void> {
    const { client, stage } = this.#options;
    try {
      await client.create(kubeEvents, stallEvent(this.#subject.type, object, stall, stage));
    } catch (error) {
      this.#log("kubernetes event not written", object, error);
    }
  }

  /** Creates one notice for all objects that are stalled for this reason. */
  async #notify(reason: StallReason): Promise<void> {
    const { client, stage } = this.#options;
    const [oldest, ...others] = this.#stalledFor(reason);
    if (!oldest || this.#notified.has(reason)) return;
    this.#notified.add(reason);
    try {
      const notice = stallNotice({ stage, noun: this.#subject.noun, stalled: [oldest, ...others] });
      await client.create(notificationRequests, notice);
    } catch (error) {
      this.#notified.delete(reason);
      this.#log("stall notice not created", oldest.object, error);
    }
  }

  #stalledFor(reason: StallReason): readonly StalledObject[] {
    const found: StalledObject[] = [];
    for (const [key, { reported }] of this.#failing) {
      const object = this.#subject.find(key);
      if (object && reported?.reason === reason) found.push({ object, stall: reported });
    }
    return found.sort((a, b) => a.stall.sinceMs - b.stall.sinceMs);
  }

  #log(message: string, object: KubeObject, error: unknown): void {
    const { namespace, name } = object.metadata;
    this.#options.log.warn(message, { [this.#subject.noun]: `${namespace}/${name}`, error });
  }
}

/** The reasons for which the API server rejects every write, whatever the object is. */
const serverReasons: ReadonlySet<StallReason> = new Set(["WebhookFailed", "Forbidden", "Unavailable"]);

/** Longer than an attempt that ends with a timeout. */
const graceMs = 60_000;
