import { setTimeout as wait } from "node:timers/promises";
import type { Dice } from "../chaos/dice.ts";
import { token } from "./storm-stage.ts";

/** What was sent about one problem, by the sender's own count. */
export interface Account {
  /** Answered: opened or counted. */
  accepted: number;
  /** Sent, answered or not: an answer may be lost, and what is sent again may be counted again. */
  sent: number;
}

export interface Alert {
  readonly name: string;
  readonly node: string;
  readonly isOver: boolean;
}

/** Sends alerts as Alertmanager does: in batches, to any gateway, again until one accepts them. */
export class Sender {
  readonly accounts = new Map<string, Account>();
  readonly refusals: string[] = [];
  readonly #urls: readonly string[];
  readonly #dice: Dice;

  constructor(urls: readonly string[], dice: Dice) {
    this.#urls = urls;
    this.#dice = dice;
  }

  async send(alerts: readonly Alert[]): Promise<void> {
    const body = JSON.stringify(payloadOf(alerts));
    for (;;) {
      for (const alert of alerts) if (!alert.isOver) this.#account(alert).sent++;
      const answer = await this.#post(body).catch(() => undefined);
      if (answer && answer.status < 300) return this.#keep(alerts, answer.results);
      if (answer && answer.status !== 503) this.refusals.push(`${answer.status} ${answer.text}`);
      await wait(this.#dice.between(20, 200));
    }
  }

  /** One try. Throws if there is no response within the time that Alertmanager would wait. */
  async once(alerts: readonly Alert[]): Promise<number> {
    for (const alert of alerts) this.#account(alert).sent++;
    const { status, results } = await this.#post(JSON.stringify(payloadOf(alerts)));
    if (status < 300) this.#keep(alerts, results);
    return status;
  }

  async #post(body: string) {
    const response = await fetch(this.#dice.pick(this.#urls), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const { results = [] } = response.status < 300 ? (JSON.parse(text) as { results?: { status: string }[] }) : {};
    return { status: response.status, text, results };
  }

  #keep(alerts: readonly Alert[], results: readonly { readonly status: string }[]) {
    for (const [i, alert] of alerts.entries()) {
      const status = results[i]?.status ?? "";
      if (alert.isOver) continue;
      if (status === "created" || status === "counted") this.#account(alert).accepted++;
      else if (status !== "ignored") this.refusals.push(`${alert.name} on ${alert.node} is ${status}`);
    }
  }

  #account({ name, node }: Alert): Account {
    const key = `${name} ${node}`;
    const account = this.accounts.get(key) ?? { accepted: 0, sent: 0 };
    this.accounts.set(key, account);
    return account;
  }
}

function payloadOf(alerts: readonly Alert[]) {
  const now = new Date();
  return {
    version: "4",
    groupKey: "storm",
    truncatedAlerts: 0,
    status: "firing",
    receiver: "interlock",
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: "http://alertmanager",
    alerts: alerts.map(({ name, node, isOver }) => ({
      status: isOver ? "resolved" : "firing",
      labels: { alertname: name, node, severity: "critical" },
      annotations: {},
      startsAt: (isOver ? new Date(now.getTime() - 1_000) : now).toISOString(),
      endsAt: isOver ? now.toISOString() : "0001-01-01T00:00:00Z",
      generatorURL: "http://prometheus",
    })),
  };
}
