import type { Gateway } from "../../src/gateway/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import {
  incidentNumber,
  isClosedIncident,
  type RemediationRequest,
  remediationRequests,
  type Signal,
} from "../../src/resources/index.ts";
import type { GatewayHistory } from "./gateway-history.ts";
import type { SimServer } from "./sim-server.ts";
import type { Process, World } from "./world.ts";

/** A gateway that accepts signals. */
export interface Desk {
  readonly process: Process;
  readonly gateway: Pick<Gateway, "admitAll">;
}

interface Stage {
  readonly world: World;
  readonly server: SimServer;
  readonly history: GatewayHistory;
  readonly desks: () => readonly Desk[];
}

/** One alert of a sender: it fires and ends again and again. */
interface Alert {
  readonly name: string;
  readonly series: string;
  /** All signals about it so far; the last is the current one. */
  readonly sent: Signal[];
}

/** Of a problem that each signal reports once more, like a Kubernetes Event. It never ends. */
const occurrenceName = "Evicted";

const maxTries = 5;
const patienceMs = 3_000;
/** Longer than a gateway is paused and a request is under way: after that an old name could be used once more. */
const retentionMs = 21_000;

/** Senders that repeat themselves and are late, and an operator who closes incidents and removes old ones. */
export class GatewaySenders {
  readonly #stage: Stage;
  readonly #client: KubeClient;
  readonly #alerts: readonly Alert[];
  readonly #pace: number;
  readonly #ending: number;
  #ended = false;

  constructor(stage: Stage) {
    this.#stage = stage;
    const { chance } = stage.world;
    this.#client = stage.server.cluster.client("people");
    const names = [occurrenceName, "DiskFull", "DiskSlow", "Overheated"].slice(chance.whole(0, 1), chance.whole(2, 4));
    this.#alerts = names.flatMap((name) =>
      ["a", "b", "c"].slice(0, chance.whole(1, 3)).map((series) => ({ name, series, sent: [] })),
    );
    this.#pace = chance.between(200, 1_500);
    this.#ending = chance.happens(0.3) ? 0 : chance.between(0.1, 0.5);
    this.#planReports();
    this.#planClosing(chance.between(1_000, 10_000));
  }

  /** From now on nothing new is sent; senders without a response retry. */
  end(): void {
    this.#ended = true;
  }

  #planReports() {
    const { world } = this.#stage;
    world.in(this.#pace * world.chance.between(0.1, 2), () => {
      if (this.#ended) return;
      this.#report();
      this.#planReports();
    });
  }

  #report() {
    const { chance } = this.#stage.world;
    const alert = chance.pick(this.#alerts);
    this.#goOn(alert);
    const all = [alert, ...this.#alerts.filter((other) => other !== alert && chance.happens(0.2))];
    const signals = all.flatMap(({ sent }) => sent.at(-1) ?? []);
    if (chance.happens(0.15)) {
      this.#stage.world.struck("old signal sent late");
      signals.push(chance.pick(alert.sent));
    }
    for (let copies = chance.happens(0.3) ? 2 : 1; copies > 0; copies--) this.#send(signals, maxTries);
  }

  /** Most of the time the state repeats. Occasionally an end is sent before its beginning. */
  #goOn({ name, series, sent }: Alert) {
    const { chance } = this.#stage.world;
    // Far behind every other clock, whatever its skew: a time in the future would count as now.
    const at = new Date(1_600_000_000_000 + this.#stage.world.now).toISOString();
    const last = sent.at(-1);
    if (last?.isOccurrence && chance.happens(0.4)) sent.push(firing(name, series, at));
    else if (last?.isOccurrence) return;
    else if (!last || (last.status === "resolved" && chance.happens(0.4))) sent.push(firing(name, series, at));
    else if (last.status === "firing" && chance.happens(this.#ending))
      sent.push({ ...last, status: "resolved", endedAt: at });
  }

  /** Until it is answered, or the sender has had enough. */
  #send(signals: readonly Signal[], tries: number) {
    const { world } = this.#stage;
    const { chance } = world;
    world.in(chance.happens(0.05) ? chance.between(0, 5_000) : chance.between(0, 20), () => {
      const open = new Set(signals);
      this.#deliver(signals, open);
      world.in(patienceMs, () => {
        if (open.size === 0 || tries === 1) return;
        world.struck("signal sent again");
        this.#send([...open], tries - 1);
      });
    });
  }

  #deliver(signals: readonly Signal[], open: Set<Signal>) {
    const { desks, history, world } = this.#stage;
    const reachable = desks();
    if (reachable.length === 0) return;
    const { process, gateway } = world.chance.pick(reachable);
    process.handle(() => {
      const toldAt = world.now;
      for (const signal of signals) history.attempted(signal, process.name);
      void gateway.admitAll(signals).then((answers) => {
        for (const [i, answer] of answers.entries()) {
          const signal = signals[i] as Signal;
          if (answer.kind === "failed") continue;
          open.delete(signal);
          history.answered(signal, answer, toldAt);
        }
      });
    });
  }

  #planClosing(paceMs: number) {
    const { world } = this.#stage;
    world.in(paceMs * world.chance.between(0.2, 2), () => {
      if (this.#ended) return;
      void this.#close();
      this.#planClosing(paceMs);
    });
  }

  /** As the orchestrator does, which keeps the newest of each fingerprint. */
  async #close() {
    const { world, server } = this.#stage;
    const { items } = await this.#client.list(remediationRequests, { namespace: "default" });
    if (items.length === 0) return;
    const incident = world.chance.pick(items);
    const ref = { namespace: "default", name: incident.metadata.name ?? "" };
    if (!isClosedIncident(incident)) {
      world.struck("incident closed");
      const completedAt = new Date(server.clock.wallMs()).toISOString();
      const status = { phase: "Completed", outcome: "Remediated", completedAt };
      await this.#client.patch(remediationRequests, ref, { merge: { status } }, { subresource: "status" });
    } else if (this.#isOld(incident) && items.some((other) => isLater(other, incident))) {
      world.struck("old incident removed");
      await this.#client.delete(remediationRequests, ref);
    }
  }

  #isOld({ status }: RemediationRequest): boolean {
    const completedMs = status && "completedAt" in status ? Date.parse(status.completedAt) : Number.NaN;
    return this.#stage.server.clock.wallMs() - completedMs > retentionMs;
  }
}

function isLater(one: RemediationRequest, other: RemediationRequest): boolean {
  const { signalFingerprint } = other.spec;
  if (one.spec.signalFingerprint !== signalFingerprint) return false;
  const numberOf = ({ metadata }: RemediationRequest) => incidentNumber(signalFingerprint, metadata.name ?? "") ?? 0;
  return numberOf(one) > numberOf(other);
}

function firing(name: string, series: string, firingAt: string): Signal {
  return {
    ...{ status: "firing", source: "alertmanager", severity: "critical" },
    ...{ name, series, firingAt, labels: { series }, annotations: {} },
    ...(name === occurrenceName && { isOccurrence: true }),
    subject: { kind: "Node", name: "worker-1" },
    payload: { name, series },
  };
}
