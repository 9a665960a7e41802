import type { ConnectionOptions } from "node:tls";
import { type RedisOptions as IoOptions, Redis } from "ioredis";
import { backoffMs, type Clock, type Random } from "../../time/index.ts";
import type { Guarantee } from "../locks/locks.ts";
import { authenticate, type CredentialSource, FreshCredentials } from "./credentials.ts";
import { checkFormat } from "./format.ts";
import { PrimaryFinder, primaryConnector } from "./primary.ts";
import { keyPrefix, parseRedisUrl, type RedisAddress, type RedisNode, redisGuarantee } from "./redis-address.ts";
import type { Script, Scripts } from "./script.ts";
import { ScriptSender } from "./script-sender.ts";

export interface RedisOptions extends Omit<RedisRouteOptions, "onProblem"> {
  /** As `parseRedisUrl` reads it; may carry credentials, so it never goes into an error or a log. */
  readonly url: string;
  /** Credentials that end, instead of those in the URL. */
  readonly credentials?: CredentialSource | undefined;
  /** Shown by CLIENT LIST. */
  readonly name?: string;
  /** A later response counts as none: the connection is closed and opened again. */
  readonly commandTimeoutMs?: number;
  /** Called when the connection is lost or cannot be made, with a message that is safe to log. */
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
  readonly #io: Redis;
  readonly #sender: ScriptSender;
  readonly #commandTimeoutMs: number;
  readonly #users: ConnectionUser[] = [];
  readonly #onProblem: (message: string) => void;
  readonly #finder: PrimaryFinder | undefined;
  readonly #credentials: FreshCredentials | undefined;
  #firstTry: { resolve(): void; reject(error: unknown): void } | undefined;
  #lastError: Error | undefined;
  #isUp = false;
  #closed = false;

  constructor(options: RedisOptions) {
    const { clock, random, commandTimeoutMs = 2_000, onProblem = () => {}, credentials: source } = options;
    const address = parseRedisUrl(options.url);
    const { finder, settings } = redisRoute(address, { ...options, onProblem });
    const io = new Redis({ ...settings, ...ioDefaults({ ...options, commandTimeoutMs }) });
    this.guarantee = redisGuarantee(address);
    this.prefix = keyPrefix(address);
    this.#io = io;
    this.#sender = new ScriptSender(io, { clock, withinMs: commandTimeoutMs, distrust: () => this.#distrust() });
    this.#commandTimeoutMs = commandTimeoutMs;
    this.#onProblem = onProblem;
    this.#finder = finder;
    this.#credentials =
      source && new FreshCredentials({ source, clock, random, onProblem, use: (fresh) => authenticate(io, fresh) });
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
    await this.#credentials?.begin();
    // Otherwise it would be looked for without end.
    await this.#finder?.find();
    await new Promise<void>((resolve, reject) => {
      this.#firstTry = { resolve, reject };
      // The rejection itself only means that there is no connection; the last error has the cause.
      this.#io.connect().catch((error: unknown) => reject(this.#lastError ?? error));
    });
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    // A server that was not yet checked for lost data would report to holders that their locks
    // are lost.
    if (!this.#isUp) return Promise.reject(new Error("not connected"));
    return this.#sender.send(script, keys, args);
  }

  /** The limits of this Redis, and the setting that would help. */
  async explain(): Promise<readonly string[]> {
    if (this.guarantee === "single") return [];
    const replicas = await readSetting(this.#io, "min-replicas-to-write");
    const lag = await readSetting(this.#io, "min-replicas-max-lag");
    return replicationLimits({ replicas, lag });
  }

  async close(): Promise<void> {
    // ioredis would wait again, with a timer that keeps the process alive, for a socket that is gone.
    if (this.#closed) return;
    this.#closed = true;
    this.#credentials?.stop();
    this.#goDown();
    this.#io.disconnect();
  }

  #listen() {
    this.#io.on("ready", () => void this.#prepare());
    this.#io.on("close", () => this.#goDown());
    this.#io.on("error", (error: Error) => {
      this.#lastError = error;
      this.#onProblem(`Redis: ${error.message}`);
    });
    this.#io.on("message", (channel: string, message: string) => {
      for (const user of this.#users) user.message?.(channel, message);
    });
  }

  async #prepare() {
    const connection: NewConnection = {
      guarantee: this.guarantee,
      run: (...call) => this.#sender.send(...call),
      subscribe: (channel) => this.#io.subscribe(channel),
      info: (section) => readInfo(this.#io, section),
      setting: (name) => readSetting(this.#io, name),
    };
    try {
      await checkFormat(connection, this.prefix);
      for (const user of this.#users) await user.prepare?.(connection);
    } catch (error) {
      if (this.#closed) return;
      this.#firstTry?.reject(error);
      this.#onProblem(`Redis: not usable yet: ${error instanceof Error ? error.message : String(error)}`);
      return this.#io.disconnect(true);
    }
    this.#isUp = true;
    // From here on `run` watches its own answers.
    delete this.#io.options.commandTimeout;
    this.#firstTry?.resolve();
    for (const user of this.#users) user.up?.();
  }

  #goDown() {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#io.options.commandTimeout = this.#commandTimeoutMs;
    for (const user of this.#users) user.down?.();
  }

  /** A server that took too long may be silent forever with an open socket: only a new connection can show that. */
  #distrust() {
    if (this.#closed) return;
    // Down at once, not when the socket is closed: until then no caller may send into it.
    this.#goDown();
    this.#io.disconnect(true);
  }
}

/** The settings that keep ioredis from acting by itself, and its timeouts. */
function ioDefaults({ name, random, commandTimeoutMs }: Pick<RedisOptions, "name" | "random" | "commandTimeoutMs">) {
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
    retryStrategy: (tries) => backoffMs(tries, { baseMs: 50, maxMs: 2_000, jitter: 0.5 }, random.fraction()),
  } satisfies IoOptions;
}

/** A section of INFO as key and value. */
async function readInfo(io: Redis, section: string): Promise<ReadonlyMap<string, string>> {
  const text = await io.info(section);
  return new Map(text.split("\r\n").flatMap((line) => (line.includes(":") ? [splitOnce(line)] : [])));
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

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, at), line.slice(at + 1)];
}

interface RedisRouteOptions {
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string | undefined;
  /** Of the Sentinels, where they ask for one. */
  readonly sentinelPassword?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when the primary cannot be found, with a message that is safe to log. */
  readonly onProblem: (message: string) => void;
}

/** How ioredis gets to the server, or to whichever of several is the primary now. */
interface RedisRoute {
  readonly settings: Pick<IoOptions, "username" | "password" | "db" | "tls" | "Connector"> & Partial<RedisNode>;
  /** Where there is a primary to be found. */
  readonly finder?: PrimaryFinder;
}

function redisRoute(
  address: RedisAddress,
  { ca, sentinelPassword, clock, random, onProblem }: RedisRouteOptions,
): RedisRoute {
  const { tls: isTls, ...access } = address.access;
  const tls: ConnectionOptions | undefined = isTls ? { ...(ca && { ca }) } : undefined;
  if (address.kind === "server") return { settings: { ...address.node, ...access, ...(tls && { tls }) } };

  const finder = new PrimaryFinder(address, { tls, sentinelPassword, prefix: keyPrefix(address) });
  return { finder, settings: { ...access, Connector: primaryConnector({ finder, tls, clock, random, onProblem }) } };
}

interface ReplicationSettings {
  /** `min-replicas-to-write`, or undefined without the right to read it. */
  readonly replicas: string | undefined;
  /** `min-replicas-max-lag`, in seconds. */
  readonly lag: string | undefined;
}

/** The guarantees of locks on a Redis with replicas, in sentences for operators. */
function replicationLimits({ replicas, lag }: ReplicationSettings): readonly string[] {
  const always =
    "Redis copies to its replicas after it has answered: a failover may forget a lock that was just granted. For as long as a lease may last after a failover nothing is granted, and fences keep late writes out.";
  if (replicas === undefined || lag === undefined) {
    return [
      always,
      "min-replicas-to-write cannot be read (CONFIG GET is not permitted): make sure that it is 1 or more.",
    ];
  }
  if (Number(replicas) < 1) {
    const risk = "a primary that is cut off from the others goes on granting locks, beside the new one";
    return [always, `min-replicas-to-write is ${replicas}: ${risk}. Set it to 1 or more.`];
  }
  return [always, `min-replicas-to-write is ${replicas}: a primary that is cut off stops granting after ${lag} s.`];
}
