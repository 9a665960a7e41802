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

const askWithinMs = 1_000;

/** Finds the current primary. */
export class PrimaryFinder {
  readonly #address: PrimaryDirectory;
  readonly #options: FindOptions;

  constructor(address: PrimaryDirectory, options: FindOptions) {
    this.#address = address;
    this.#options = options;
  }

  /**
   * A Sentinel that missed a failover names the former primary, which may be running again without data: so most of
   * them have to agree. Nodes of a Cluster reject keys of other nodes, so any of them will do.
   */
  async find(): Promise<RedisNode> {
    const { nodes, kind } = this.#address;
    const answers = await Promise.all(nodes.map((node) => this.#tryAsk(node)));
    const needed = kind === "sentinel" ? Math.floor(nodes.length / 2) + 1 : 1;
    const named = answers.filter((answer) => typeof answer !== "string");
    const agreed = named.find((one) => named.filter((other) => isSame(one, other)).length >= needed);
    if (agreed) return agreed;

    const details = answers.map((answer, i) => {
      const reply = typeof answer === "string" ? answer : `reports ${answer.host}:${answer.port}`;
      return `${nodes[i]?.host}:${nodes[i]?.port}: ${reply}`;
    });
    const problem = kind === "sentinel" ? "not enough Sentinels report" : "no node reports";
    throw new Error(`${problem} where the primary is: ${details.join("; ")}`);
  }

  /** The address of the primary, or an error message. */
  async #tryAsk(node: RedisNode): Promise<RedisNode | string> {
    try {
      return await this.#ask(node);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #ask(node: RedisNode): Promise<RedisNode> {
    const { kind, access } = this.#address;
    const { tls, sentinelPassword, prefix } = this.#options;
    const { username, password } = kind === "sentinel" ? { password: sentinelPassword } : access;
    const io = new Redis({
      ...node,
      ...(tls && { tls }),
      ...(username && { username }),
      ...(password && { password }),
      lazyConnect: true,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      connectTimeout: askWithinMs,
      commandTimeout: askWithinMs,
    });
    let onProblem: Error | undefined;
    io.on("error", (error: Error) => {
      onProblem = error;
    });
    try {
      // The rejection itself only means that there is no connection.
      await io.connect().catch((error: unknown) => Promise.reject(onProblem ?? error));
      return this.#address.kind === "sentinel"
        ? await askSentinel(io, this.#address.name)
        : await findSlotOwner(prefix, io, node);
    } finally {
      io.disconnect();
    }
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
  readonly finder: PrimaryFinder;
  readonly tls: ConnectionOptions | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly onProblem: (message: string) => void;
}

type Connector = new (options: unknown) => AbstractConnector;

/** Makes ioredis look for the primary before each connection. It would give up for good if that failed, so it does not. */
export function primaryConnector({ finder, tls, clock, random, onProblem }: ConnectorOptions): Connector {
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
          const node = await finder.find();
          if (this.connecting) return node;
        } catch (error) {
          onProblem(`Redis: ${error instanceof Error ? error.message : String(error)}`);
        }
        if (this.connecting)
          await sleep(clock, backoffMs(tries, { baseMs: 50, maxMs: 2_000, jitter: 0.5 }, random.fraction()));
        if (!this.connecting) throw new Error("the connection was closed while it was being made");
      }
    }
  };
}
