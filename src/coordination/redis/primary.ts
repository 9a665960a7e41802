import { createConnection } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { AbstractConnector, Redis } from "ioredis";
import { backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import type { RedisAddress, RedisNode } from "./redis-address.ts";

/** Servers that can name the primary. */
export type PrimaryDirectory = Exclude<RedisAddress, { kind: "server" }>;

export interface FindOptions {
  readonly tls: ConnectionOptions | undefined;
  /** Sentinels have credentials of their own. */
  readonly sentinelPassword?: string | undefined;
  /** The prefix of our keys, which are all in one slot: its owner is the primary. */
  readonly prefix: string;
}

const timeoutMs = 1_000;

export type FindPrimary = () => Promise<RedisNode>;

/**
 * Returns a function that finds the current primary. A Sentinel that missed a failover names the former primary, which may be
 * running again without data: so most of them have to agree. Nodes of a Cluster reject keys of other nodes, so any of
 * them will do.
 */
export function primaryFinder(directory: PrimaryDirectory, options: FindOptions): FindPrimary {
  const { nodes, kind } = directory;
  const needed = kind === "sentinel" ? Math.floor(nodes.length / 2) + 1 : 1;

  return async () => {
    const answers = await Promise.all(
      nodes.map((node) => askNode(node, directory, options).catch((error: unknown) => describeError(error))),
    );
    const named = answers.filter((answer) => typeof answer !== "string");
    const agreed = named.find((one) => named.filter((other) => isSame(one, other)).length >= needed);
    if (agreed) return agreed;

    const details = answers.map((answer, i) => {
      const reply = typeof answer === "string" ? answer : `reports ${answer.host}:${answer.port}`;
      return `${nodes[i]?.host}:${nodes[i]?.port}: ${reply}`;
    });
    const problem = kind === "sentinel" ? "not enough Sentinels report" : "no node reports";
    throw new Error(`${problem} where the primary is: ${details.join("; ")}`);
  };
}

/** The address of the primary, as `node` reports it. */
async function askNode(node: RedisNode, directory: PrimaryDirectory, options: FindOptions): Promise<RedisNode> {
  const { tls, sentinelPassword, prefix } = options;
  const { username, password } = directory.kind === "sentinel" ? { password: sentinelPassword } : directory.access;
  const io = new Redis({
    ...node,
    ...(tls && { tls }),
    ...(username && { username }),
    ...(password && { password }),
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
  });
  let lastError: Error | undefined;
  io.on("error", (error: Error) => {
    lastError = error;
  });
  try {
    // The rejection itself only means that there is no connection.
    await io.connect().catch((error: unknown) => Promise.reject(lastError ?? error));
    return directory.kind === "sentinel"
      ? await askSentinel(io, directory.name)
      : await findSlotOwner(prefix, io, node);
  } finally {
    io.disconnect();
  }
}

function isSame(one: RedisNode, other: RedisNode): boolean {
  return one.host === other.host && one.port === other.port;
}

async function askSentinel(io: Redis, name: string): Promise<RedisNode> {
  const answer = (await io.call("SENTINEL", "get-master-addr-by-name", name)) as readonly string[] | null;
  const [host, port] = answer ?? [];
  if (!host || !port) throw new Error(`has no primary named ${name}`);
  return { host, port: Number(port) };
}

type SlotRange = readonly [first: number, last: number, primary: readonly [host: string | null, port: number]];

async function findSlotOwner(prefix: string, io: Redis, asked: RedisNode): Promise<RedisNode> {
  const slot = Number(await io.call("CLUSTER", "KEYSLOT", prefix));
  const ranges = (await io.call("CLUSTER", "SLOTS")) as readonly SlotRange[];
  const owner = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2];
  if (!owner) throw new Error(`no node owns slot ${slot}`);
  // A node without a configured address leaves it out.
  return { host: owner[0] || asked.host, port: owner[1] };
}

export interface ConnectorOptions {
  readonly findPrimary: FindPrimary;
  readonly tls: ConnectionOptions | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly onProblem: (message: string) => void;
}

export const reconnectBackoff = { baseMs: 50, maxMs: 2_000, jitter: 0.5 };

type Connector = new (options: unknown) => AbstractConnector;

/** Makes ioredis look for the primary before each connection. It would give up for good if that failed, so it does not. */
export function primaryConnector({ findPrimary, tls, clock, random, onProblem }: ConnectorOptions): Connector {
  return class extends AbstractConnector {
    // ioredis hands its own options in.
    constructor(options: unknown) {
      super((options as { readonly disconnectTimeout: number }).disconnectTimeout);
    }

    async connect() {
      this.connecting = true;
      const { host, port } = await this.#find();
      const stream = tls ? connectTls({ host, port, ...tls }) : createConnection({ host, port });
      stream.once("error", (error) => {
        this.firstError = error;
      });
      this.stream = stream;
      return stream;
    }

    async #find(): Promise<RedisNode> {
      for (let tries = 1; ; tries++) {
        try {
          const node = await findPrimary();
          if (this.connecting) return node;
        } catch (error) {
          onProblem(`Redis: ${describeError(error)}`);
        }
        if (this.connecting) await sleep(clock, backoffMs(tries, reconnectBackoff, random.fraction()));
        if (!this.connecting) throw new Error("the connection was closed while it was being made");
      }
    }
  };
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
