import type { ConnectionOptions } from "node:tls";
import { type RedisOptions as IoOptions, Redis } from "ioredis";
import { backoffMs, type Clock, type Random } from "../../time/index.ts";
import type { Guarantee } from "../locks/locks.ts";
import { type CredentialSource, renewCredentials } from "./credentials.ts";
import { checkFormat } from "./format.ts";
import { type FindPrimary, primaryConnector, primaryFinder, reconnectBackoff } from "./primary.ts";
import { keyPrefix, parseRedisUrl, type RedisAddress, type RedisNode, redisGuarantee } from "./redis-address.ts";
import type { Scripts } from "./script.ts";
import { scriptSender } from "./script-sender.ts";

export interface RedisOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** As `parseRedisUrl` reads it; may carry credentials, so it never goes into an error or a log. */
  readonly url: string;
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string | undefined;
  /** For Sentinels that require one. */
  readonly sentinelPassword?: string | undefined;
  /** Credentials that expire, instead of those in the URL. */
  readonly credentials?: CredentialSource | undefined;
  /** Shown by CLIENT LIST. */
  readonly name?: string;
  /** A later response counts as none: the connection is closed and opened again. */
  readonly commandTimeoutMs?: number;
  /** Called when the connection is lost or cannot be made, or no primary is found, with a message that is safe to log. */
  readonly onProblem?: (message: string) => void;
}

/** A new connection that other callers may not use yet. */
export interface NewConnection extends Pick<Scripts, "guarantee" | "run"> {
  subscribe(channel: string): Promise<unknown>;
  /** A section of INFO as key and value. */
  info(section: string): Promise<ReadonlyMap<string, string>>;
  /** A server setting, or undefined without the right to read it. */
  setting(name: string): Promise<string | undefined>;
}

/** Callbacks for the state of the connection and for messages on its channels. */
export interface ConnectionUser {
  /** Runs on each new connection before other callers may use it. */
  prepare?(connection: NewConnection): Promise<void>;
  up?(): void;
  down?(): void;
  message?(channel: string, message: string): void;
}

/**
 * One connection to one Redis, for scripts and pushes alike (RESP3), so that the pushes of a dead connection are known
 * to be missing. Nothing is queued, resent or retried behind the caller's back: a lock command that arrives late, on
 * a server that has restarted empty, would be worse than one that fails.
 */
export class RedisConnection implements Scripts {
  /** The assumptions of exclusion on this Redis. */
  readonly guarantee: Guarantee;
  readonly prefix: string;
  readonly #options: DefaultedOptions;
  readonly #io: Redis;
  readonly #send: Scripts["run"];
  readonly #users: ConnectionUser[] = [];
  readonly #findPrimary: FindPrimary | undefined;
  readonly #closing = new AbortController();
  #firstTry: { resolve(): void; reject(error: unknown): void } | undefined;
  #lastError: Error | undefined;
  #isUp = false;

  constructor(given: RedisOptions) {
    const options = { commandTimeoutMs: 2_000, onProblem: () => {}, ...given };
    const { clock, commandTimeoutMs: timeoutMs } = options;
    const address = parseRedisUrl(options.url);
    const { findPrimary, settings } = redisRoute(address, options);
    this.guarantee = redisGuarantee(address);
    this.prefix = keyPrefix(address);
    this.#options = options;
    this.#io = new Redis({ ...settings, ...ioDefaults(options) });
    this.#send = scriptSender(this.#io, { clock, timeoutMs, distrust: () => this.#distrust() });
    this.#findPrimary = findPrimary;
    this.#listen();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  use(user: ConnectionUser): void {
    this.#users.push(user);
  }

  /** Resolves when the connection is usable; rejects if the first try fails. Later losses are repaired by themselves. */
  async connect(): Promise<void> {
    const { credentials: source, clock, random, onProblem } = this.#options;
    if (source) await renewCredentials(this.#io, { source, clock, random, onProblem, signal: this.#closing.signal });
    // Fails at once if there is no primary. ioredis would look for one without end.
    await this.#findPrimary?.();
    await new Promise<void>((resolve, reject) => {
      this.#firstTry = { resolve, reject };
      // The rejection itself only means that there is no connection; the last error has the cause.
      this.#io.connect().catch((error: unknown) => reject(this.#lastError ?? error));
    });
  }

  run(...call: Parameters<Scripts["run"]>): Promise<unknown> {
    // A server that was not yet checked for lost data would report to holders that their locks are lost.
    if (!this.#isUp) return Promise.reject(new Error("not connected"));
    return this.#send(...call);
  }

  /** The limits of this Redis, and the setting that would help. */
  async explain(): Promise<readonly string[]> {
    if (this.guarantee === "single") return [];
    return replicationLimits(
      await readSetting(this.#io, "min-replicas-to-write"),
      await readSetting(this.#io, "min-replicas-max-lag"),
    );
  }

  async close(): Promise<void> {
    // ioredis would wait again, with a timer that keeps the process alive, for a socket that is gone.
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#goDown();
    this.#io.disconnect();
  }

  #listen() {
    this.#io.on("ready", () => void this.#prepare());
    this.#io.on("close", () => this.#goDown());
    this.#io.on("error", (error: Error) => {
      this.#lastError = error;
      this.#options.onProblem(`Redis: ${error.message}`);
    });
    this.#io.on("message", (channel: string, message: string) => {
      for (const user of this.#users) user.message?.(channel, message);
    });
  }

  async #prepare() {
    const connection: NewConnection = {
      guarantee: this.guarantee,
      run: this.#send,
      subscribe: (channel) => this.#io.subscribe(channel),
      info: (section) => readInfo(this.#io, section),
      setting: (name) => readSetting(this.#io, name),
    };
    try {
      const { db } = this.#io.options;
      // ioredis has done this, but ignores the error and continues in another database.
      if (db) await this.#io.select(db);
      await checkFormat(connection, this.prefix);
      for (const user of this.#users) await user.prepare?.(connection);
    } catch (error) {
      this.#firstTry?.reject(error);
      if (this.#closing.signal.aborted) return;
      this.#options.onProblem(`Redis: not usable yet: ${error instanceof Error ? error.message : String(error)}`);
      return this.#io.disconnect(true);
    }
    this.#isUp = true;
    // From here on `run` has its own timeout.
    delete this.#io.options.commandTimeout;
    this.#firstTry?.resolve();
    for (const user of this.#users) user.up?.();
  }

  #goDown() {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#io.options.commandTimeout = this.#options.commandTimeoutMs;
    for (const user of this.#users) user.down?.();
  }

  /** A server that took too long may be silent forever with an open socket: only a new connection can show that. */
  #distrust() {
    if (this.#closing.signal.aborted) return;
    // Down at once, not when the socket is closed: until then no caller may send into it.
    this.#goDown();
    this.#io.disconnect(true);
  }
}

type DefaultedOptions = RedisOptions & Required<Pick<RedisOptions, "commandTimeoutMs" | "onProblem">>;

/** The settings that keep ioredis from acting by itself, and its timeouts. */
function ioDefaults({ name, random, commandTimeoutMs }: DefaultedOptions) {
  return {
    ...(name === undefined ? {} : { connectionName: name }),
    lazyConnect: true,
    protocol: 3,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    connectTimeout: 5_000,
    // How long closing a socket may take: a silent one never confirms.
    disconnectTimeout: 200,
    commandTimeout: commandTimeoutMs,
    retryStrategy: (tries) => backoffMs(tries, reconnectBackoff, random.fraction()),
  } satisfies IoOptions;
}

/** A section of INFO as key and value. */
async function readInfo(io: Redis, section: string): Promise<ReadonlyMap<string, string>> {
  const text = await io.info(section);
  return new Map(Array.from(text.matchAll(/^(\w+):(.*)\r$/gm), ([, name = "", value = ""]) => [name, value]));
}

/** A server setting, or undefined without the right to read it. */
async function readSetting(io: Redis, name: string): Promise<string | undefined> {
  try {
    const reply = (await io.config("GET", name)) as unknown;
    return Array.isArray(reply) ? String(reply[1]) : undefined;
  } catch {
    return undefined;
  }
}

/** How ioredis gets to the server, or to whichever of several is the primary now. */
interface RedisRoute {
  readonly settings: Pick<IoOptions, "username" | "password" | "db" | "tls" | "Connector"> & Partial<RedisNode>;
  /** Undefined for a single server. */
  readonly findPrimary?: FindPrimary;
}

function redisRoute(address: RedisAddress, options: DefaultedOptions): RedisRoute {
  const { ca, sentinelPassword, clock, random, onProblem } = options;
  const { tls: isTls, ...access } = address.access;
  const tls: ConnectionOptions | undefined = isTls ? { ...(ca && { ca }) } : undefined;
  if (address.kind === "server") return { settings: { ...address.node, ...access, ...(tls && { tls }) } };

  const findPrimary = primaryFinder(address, { tls, sentinelPassword, prefix: keyPrefix(address) });
  const Connector = primaryConnector({ findPrimary, tls, clock, random, onProblem });
  return { findPrimary, settings: { ...access, Connector } };
}

/** The guarantees of locks on a Redis with replicas, in sentences for operators. A setting that cannot be read is undefined. */
function replicationLimits(minReplicas: string | undefined, maxLagSeconds: string | undefined): readonly string[] {
  const always =
    "Redis copies to its replicas after it has answered: a failover may forget a lock that was just granted. For as long as a lease may last after a failover nothing is granted, and fences keep late writes out.";
  if (minReplicas === undefined || maxLagSeconds === undefined) {
    return [
      always,
      "min-replicas-to-write cannot be read (CONFIG GET is not permitted): make sure that it is 1 or more.",
    ];
  }
  const setting = `min-replicas-to-write is ${minReplicas}: a primary that is cut off`;
  if (Number(minReplicas) >= 1) return [always, `${setting} stops granting after ${maxLagSeconds} s.`];
  return [always, `${setting} from the others goes on granting locks, beside the new one. Set it to 1 or more.`];
}
