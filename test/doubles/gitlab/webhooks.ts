import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import type { Project } from "./model.ts";
import type { Happening } from "./webhook-bodies.ts";
import type { World } from "./world.ts";

export interface SendOptions {
  /** Only events of these projects; of all projects if missing. */
  readonly projects?: readonly Project[];
  /** `all`: a hook for each URL. `in turn`: one hook, and its deliveries go to one URL after the other, as a balancer does. */
  readonly spread?: "all" | "in turn";
}

/** One attempt to deliver. */
export interface Delivery {
  readonly url: string;
  readonly hook: string;
  /** The same for every attempt at, and copy of, one delivery. */
  readonly key: string;
  readonly body: string;
  readonly sentMs: number;
  /** Undefined if there was no answer in time. */
  readonly status: number | undefined;
  readonly tookMs: number;
}

interface Hook {
  readonly uuid: string;
  readonly urls: readonly string[];
  readonly secret: string;
  readonly projects: readonly Project[] | undefined;
  sent: number;
  failures: number;
  backoffs: number;
  disabledUntilMs: number;
}

interface Letter {
  readonly hook: Hook;
  readonly name: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** GitLab's side of webhooks: reports events at least once, and not always in order. */
export class Webhooks {
  /** How often everything is sent. */
  copies = 1;
  /** How often a delivery that failed is tried again. */
  retries = 0;
  timeoutMs = 10_000;
  /** As on GitLab.com: four failures in a row rest a hook for a minute, then two, …; answers of 4xx end it. */
  disablesFailing = false;
  readonly deliveries: Delivery[] = [];
  #world: World;
  #hooks: Hook[] = [];
  #held: Letter[] | undefined;
  #underway = new Set<Promise<void>>();
  #agent = new Agent({ keepAlive: true });

  constructor(world: World) {
    this.#world = world;
    world.sendWebhook = (happening) => this.send(happening);
  }

  sendTo(urls: readonly string[], secret: string, { projects, spread = "all" }: SendOptions = {}): void {
    for (const group of spread === "all" ? urls.map((url) => [url]) : [urls]) {
      const counters = { sent: 0, failures: 0, backoffs: 0, disabledUntilMs: 0 };
      this.#hooks.push({ uuid: randomUUID(), urls: group, secret, projects, ...counters });
    }
  }

  stopSending(): void {
    this.#hooks = [];
  }

  /** Holds all further events back until `release`. */
  hold(): void {
    this.#held ??= [];
  }

  release(order: "as it happened" | "reversed" = "as it happened"): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const letter of order === "reversed" ? held.toReversed() : held) this.#post(letter);
  }

  /** Once everything that was to be sent has been answered, or given up. */
  async settled(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway);
  }

  /** URLs of hooks that rest at present. */
  get disabled(): readonly string[] {
    const nowMs = this.#world.time.nowMs();
    return this.#hooks.filter(({ disabledUntilMs }) => disabledUntilMs > nowMs).flatMap(({ urls }) => urls);
  }

  /** Anything at all, as the body of any hook: malformed JSON, unknown kinds. */
  sendRaw(hook: string, body: string | object, project?: Project): void {
    const eventUuid = randomUUID();
    const text = typeof body === "string" ? body : JSON.stringify(body);
    for (const target of this.#hooks) {
      if (target.projects && project && !target.projects.includes(project)) continue;
      const letter = { hook: target, name: hook, body: text, headers: this.#headers(target, hook, eventUuid) };
      if (this.#held) this.#held.push(letter);
      else this.#post(letter);
    }
  }

  send({ project, hook, body }: Happening): void {
    if (this.#hooks.length > 0) this.sendRaw(hook, body, project);
  }

  async close(): Promise<void> {
    this.stopSending();
    this.retries = 0;
    this.#agent.destroy();
    await this.settled();
  }

  #headers(hook: Hook, name: string, eventUuid: string): Record<string, string> {
    return {
      "Content-Type": "application/json",
      "User-Agent": `GitLab/${this.#world.settings.version}`,
      "X-Gitlab-Event": name,
      "X-Gitlab-Token": hook.secret,
      "X-Gitlab-Instance": this.#world.url,
      "X-Gitlab-Webhook-UUID": hook.uuid,
      "X-Gitlab-Event-UUID": eventUuid,
      "Idempotency-Key": randomUUID(),
    };
  }

  #post(letter: Letter): void {
    if (letter.hook.disabledUntilMs > this.#world.time.nowMs()) return;
    for (let copy = 0; copy < this.copies; copy++) {
      const sending = this.#deliver(letter).finally(() => this.#underway.delete(sending));
      this.#underway.add(sending);
    }
  }

  async #deliver(letter: Letter): Promise<void> {
    for (let tries = 0; tries <= this.retries; tries++) {
      const url = letter.hook.urls[letter.hook.sent++ % letter.hook.urls.length] ?? "";
      const sentMs = this.#world.time.nowMs();
      const status = await this.#send(url, letter);
      const { name: hook, body, headers } = letter;
      const tookMs = this.#world.time.nowMs() - sentMs;
      this.deliveries.push({ url, hook, key: headers["Idempotency-Key"] ?? "", body, sentMs, status, tookMs });
      this.#judge(letter.hook, status);
      if (status !== undefined && status < 300) return;
    }
  }

  #send(url: string, { body, headers }: Letter): Promise<number | undefined> {
    return new Promise((resolve) => {
      const options = { method: "POST", headers, agent: this.#agent, timeout: this.timeoutMs };
      const sending = request(url, options, (response) => {
        response.resume();
        response.on("close", () => resolve(response.statusCode));
      });
      sending.on("timeout", () => sending.destroy());
      sending.on("error", () => resolve(undefined));
      sending.end(body);
    });
  }

  #judge(hook: Hook, status: number | undefined): void {
    if (status !== undefined && status < 300) {
      hook.failures = 0;
      hook.backoffs = 0;
      return;
    }
    hook.failures++;
    if (!this.disablesFailing || hook.failures < 4) return;
    const minutes = Math.min(2 ** hook.backoffs++, 24 * 60);
    const isForGood = status !== undefined && status >= 400 && status < 500;
    hook.disabledUntilMs = isForGood ? Number.POSITIVE_INFINITY : this.#world.time.nowMs() + minutes * 60_000;
  }
}
