import { waitingNames } from "./all-waiting.ts";
import type { HandOffs } from "./handoff.ts";
import { interlock, interlockCohort } from "./interlock.ts";
import { type MemoryFigures, memoryNames } from "./memory.ts";
import { median, quantile } from "./quantile.ts";
import type { Saturation } from "./saturation.ts";
import { printTable } from "./table.ts";
import type { Uncontended } from "./uncontended.ts";
import type { Waiting } from "./waiting.ts";

export type Figures = Record<string, number>;

/** Each function here prints what was measured in absolute figures and returns its part of the result line. */
export function reportUncontended(
  results: ReadonlyMap<string, readonly Uncontended[]>,
  names: { readonly raw: string; readonly peers: readonly string[] },
): Figures {
  printTable(
    "A  Uncontended: acquire + release of a free key; p50/p99 with one pair in flight, the rest with 64",
    ["", "p50 µs", "p99 µs", "pairs/s", "client CPU µs", "Redis CPU µs", "Redis commands"],
    [...results].map(([name, rounds]) => [
      name,
      median(rounds.map((r) => r.p50Micros)),
      median(rounds.map((r) => r.p99Micros)),
      median(rounds.map((r) => r.pairsPerSecond)),
      median(rounds.map((r) => r.clientMicros)),
      median(rounds.map((r) => r.redisMicros)),
      median(rounds.map((r) => r.commands)),
    ]),
  );

  const vs = (other: string, figure: (round: Uncontended) => number) =>
    ratioByRound(rows(results, interlock.name).map(figure), rows(results, other).map(figure));
  const speed = (r: Uncontended) => 1 / r.p50Micros;
  const rate = (r: Uncontended) => r.pairsPerSecond;
  const thrift = (r: Uncontended) => 1 / r.clientMicros;
  // The best peer is the one that leaves us the smallest lead.
  return {
    uncontended1VsRaw: vs(names.raw, speed),
    uncontended1VsBestPeer: Math.min(...names.peers.map((peer) => vs(peer, speed))),
    uncontended64VsRaw: vs(names.raw, rate),
    uncontended64VsBestPeer: Math.min(...names.peers.map((peer) => vs(peer, rate))),
    cpuPerPair64VsRaw: vs(names.raw, thrift),
  };
}

export function reportHandOffs(
  among2: ReadonlyMap<string, readonly HandOffs[]>,
  among8: ReadonlyMap<string, readonly HandOffs[]>,
  names: { readonly peers: readonly string[]; readonly pollers: readonly string[] },
): Figures {
  printHandOffs("B1 Hand-off between processes: one holds, 1 waits", among2);
  printHandOffs("B1 Hand-off between processes: one holds, 7 wait", among8);
  return {
    handoff1VsBestPeer: lead(among2, names.peers, p50),
    handoff7VsBestPeer: lead(among8, names.peers, p50),
    handoff7Vs5msPollers: lead(among8, names.pollers, p50),
    handoff7CommandsVs5msPollers: lead(among8, names.pollers, commands),
    handoff7RequestsVs5msPollers: lead(among8, names.pollers, requests),
    overtakeShare: median(rows(among8, interlock.name).map((r) => r.overtakes)),
  };
}

function printHandOffs(title: string, results: ReadonlyMap<string, readonly HandOffs[]>) {
  printTable(
    title,
    ["", "p50 ms", "p99 ms", "overtakes", "longest wait ms", "commands/grant", "requests/grant", "violations"],
    [...results].map(([name, rounds]) => [
      name,
      p50(rounds),
      quantile(
        rounds.flatMap((r) => r.latenciesMs),
        0.99,
      ),
      median(rounds.map((r) => r.overtakes)),
      Math.max(...rounds.map((r) => r.longestWaitMs)),
      commands(rounds),
      requests(rounds),
      sum(rounds.map((r) => r.violations)),
    ]),
  );
}

/** How many times more of it the best of `others` needs than we do. */
function lead<T>(
  results: ReadonlyMap<string, readonly T[]>,
  others: readonly string[],
  need: (rounds: readonly T[]) => number,
): number {
  return Math.min(...others.map((name) => need(rows(results, name)))) / need(rows(results, interlock.name));
}

/** Slow contenders have few hand-offs in a round, so those of all rounds are taken together. */
function p50(rounds: readonly HandOffs[]): number {
  return median(rounds.flatMap((r) => r.latenciesMs));
}

function commands(rounds: readonly HandOffs[]): number {
  return median(rounds.map((r) => r.commandsPerGrant));
}

function requests(rounds: readonly HandOffs[]): number {
  return median(rounds.map((r) => r.requestsPerGrant));
}

export function reportWaiting(results: ReadonlyMap<string, Waiting>): Figures {
  printTable(
    "C  Waiting: 50 callers wait for a lock that is held",
    ["", "commands/s", "client CPU ms/s", "Redis CPU ms/s", "drain ms"],
    [...results].map(([name, r]) => [name, r.commandsPerSecond, r.clientMsPerSecond, r.redisMsPerSecond, r.drainMs]),
  );
  const commandsPerSecond = (name: string) => results.get(name)?.commandsPerSecond ?? Number.NaN;
  return {
    waiting50CommandsPerSecond: commandsPerSecond(waitingNames.oneClient),
    waiting50ClientsCommandsPerSecond: commandsPerSecond(waitingNames.fiftyClients),
  };
}

export function reportSaturation(
  results: ReadonlyMap<string, readonly Saturation[]>,
  peers: readonly string[],
): Figures {
  printTable(
    "B2 Saturation: 4 processes × 25 loops on one key",
    [
      "",
      "grants/s",
      "median wait ms",
      "p99 ms",
      "longest ms",
      "client CPU µs",
      "Redis CPU µs",
      "commands/grant",
      "violations",
    ],
    [...results].map(([name, rounds]) => [
      name,
      median(rounds.map((r) => r.grantsPerSecond)),
      median(rounds.map((r) => r.medianWaitMs)),
      median(rounds.map((r) => r.p99WaitMs)),
      median(rounds.map((r) => r.longestWaitMs)),
      median(rounds.map((r) => r.clientMicros)),
      median(rounds.map((r) => r.redisMicros)),
      median(rounds.map((r) => r.commands)),
      sum(rounds.map((r) => r.violations)),
    ]),
  );
  const grants = (name: string) => rows(results, name).map((r) => r.grantsPerSecond);
  return {
    saturationVsBestPeer: Math.min(...peers.map((peer) => ratioByRound(grants(interlockCohort.name), grants(peer)))),
    fairLongestWaitVsMedian: median(rows(results, interlock.name).map((r) => r.longestWaitMs / r.medianWaitMs)),
  };
}

export function reportMemory({ pairsPerSecond, queuedMicros, interlockQueuedMicros }: MemoryFigures): Figures {
  printTable(
    "E  In one process: acquire + release, uncontended",
    ["", "million pairs/s"],
    [...pairsPerSecond].map(([name, rounds]) => [name, median(rounds) / 1e6]),
  );
  printTable("E  In one process: a long queue on one key", ["", "µs/grant"], [...queuedMicros]);
  return {
    memoryVsAsyncMutex: ratioByRound(
      rows(pairsPerSecond, memoryNames.interlock),
      rows(pairsPerSecond, memoryNames.keyed),
    ),
    memory100kQueuedMicros: interlockQueuedMicros,
  };
}

/** Both were measured in each round: a ratio of neighbours is not moved by load that comes and goes. */
function ratioByRound(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
}

function rows<T>(results: ReadonlyMap<string, readonly T[]>, name: string): readonly T[] {
  return results.get(name) ?? [];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
