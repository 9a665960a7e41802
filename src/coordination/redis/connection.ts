import { createHash } from "node:crypto";
import type { ConnectionOptions } from "node:tls";
import { type RedisOptions as IoOptions, Redis } from "ioredis";
import { Agenda, Appointment, backoffMs, type Clock, type Random } from "../../time/index.ts";
import type { Guarantee } from "../locks.ts";
import { type CredentialSource, type Credentials, FreshCredentials } from "./credentials.ts";
import { placeOf, type RedisNode, type RedisPlace } from "./place.ts";
import { PrimaryFinder, primaryConnector } from "./primary.ts";
import { replicationLimits } from "./replication-limits.ts";

export interface RedisOptions {
  /** As `placeOf` reads it; may carry credentials, so it never goes into an error or a log. */
  readonly url: string;
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string | undefined;
  /** Of the Sentinels, where they ask for one. */
  readonly sentinelPassword?: string | undefined;
  /** Credentials that end, instead of those in the URL. */
  readonly credentials?: CredentialSource | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Shown by CLIENT LIST. */
  readonly name?: string;
  /** An answer that takes longer is none: the connection is dropped and made anew. */
  readonly commandTimeoutMs?: number;
  /** Called when the connection is lost or cannot be made, with what is safe to log. */
  readonly trouble?: (message: string) => void;
}

/** A Lua script and the name Redis knows it by. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** What claims and watermarks need of a connection. */
export interface Scripts {
  readonly guarantee: Guarantee;
  /** First part of all keys, unless the caller has one. */
  readonly prefix: string;
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** A connection that was just made and that nobody else may use yet. */
export interface NewConnection extends Pick<Scripts, "guarantee" | "run"> {
  subscribe(channel: string): Promise<unknown>;
  /** A section of INFO as key and value. */
  info(section: string): Promise<ReadonlyMap<string, string>>;
  /** A server setting, or undefined where we may not ask. */
  setting(name: string): Promise<string | undefined>;
}

/** Told when the connection is usable, when no longer, and of messages on its channels. */
export interface ConnectionUser {
  /** Runs on each new connection before anybody may use it. */
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
  readonly #io: Redis;
  /** When the answers under way have to be here. */
  readonly #agenda: Agenda;
  readonly #clock: Clock;
  readonly #commandTimeoutMs: number;
  readonly #users: ConnectionUser[] = [];
  readonly #trouble: (message: string) => void;
  readonly #place: RedisPlace;
  #finder: PrimaryFinder | undefined;
  readonly #credentials: FreshCredentials | undefined;
  #firstTry: { resolve(): void; reject(error: unknown): void } | undefined;
  #lastError: Error | undefined;
  #isUp = false;
  #closed = false;

  constructor(options: RedisOptions) {
    const { url, clock, random, name, commandTimeoutMs = 2_000, trouble = () => {}, credentials } = options;
    this.#trouble = trouble;
    this.#clock = clock;
    this.#commandTimeoutMs = commandTimeoutMs;
    this.#agenda = new Agenda(clock, 10, { background: true });
    this.#place = placeOf(url);
    this.#io = new Redis({
      ...this.#wayTo(options),
      lazyConnect: true,
      protocol: 3,
      ...(name === undefined ? {} : { connectionName: name }),
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      connectTimeout: 5_000,
      // How long a socket that we end may take to say goodbye: one that went silent never will.
      disconnectTimeout: 200,
      commandTimeout: commandTimeoutMs,
      retryStrategy: (tries) => backoffMs(tries, { baseMs: 50, maxMs: 2_000, jitter: 0.5 }, random.fraction()),
    });
    const use = (fresh: Access) => this.#authenticate(fresh);
    this.#credentials = credentials && new FreshCredentials({ source: credentials, clock, random, use, trouble });
    this.#io.on("ready", () => void this.#prepare());
    this.#io.on("close", () => this.#goDown());
    this.#io.on("error", (error: Error) => {
      this.#lastError = error;
      this.#trouble(`Redis: ${error.message}`);
    });
    this.#io.on("message", (channel: string, message: string) => {
      for (const user of this.#users) user.message?.(channel, message);
    });
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  use(user: ConnectionUser): void {
    this.#users.push(user);
  }

  /** What exclusion on this Redis rests on: a failover forgets what was not yet copied. */
  get guarantee(): Guarantee {
    return this.#place.kind === "server" ? "single" : "async-replicated";
  }

  /** First part of all keys. In a Cluster everything is in one slot, and so on one server. */
  get prefix(): string {
    return this.#place.kind === "cluster" ? "{interlock}:" : "interlock:";
  }

  /** Resolves when the connection is usable; rejects if the first try fails. Later losses are repaired by themselves. */
  async connect(): Promise<void> {
    await this.#credentials?.begin();
    // Otherwise it would be looked for without end.
    await this.#finder?.find();
    await new Promise<void>((resolve, reject) => {
      this.#firstTry = { resolve, reject };
      // What it rejects with says only that there is no connection.
      this.#io.connect().catch((error: unknown) => reject(this.#lastError ?? error));
    });
  }

  /** Runs `script` where only its hash needs to travel. */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    // A server that is new to us, and was not asked whether it has forgotten anything, would tell holders that they
    // have lost what they hold.
    if (!this.#isUp) return Promise.reject(new Error("not connected"));
    return this.#send(script, keys, args);
  }

  #send({ sha, text }: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.#inTime(this.#io.evalsha(sha, keys.length, ...keys, ...args)).catch((error: unknown) => {
      const answer = error instanceof Error ? error.message : "";
      // It was the primary, or had our slot, when we came.
      if (/^(MOVED|READONLY) /.test(answer)) this.#distrust();
      if (!answer.startsWith("NOSCRIPT")) throw error;
      // A refused script has not run, so it may be sent again in full; anything else may have happened.
      return this.#inTime(this.#io.eval(text, keys.length, ...keys, ...args));
    });
  }

  /** The answer, or an error once it is overdue. ioredis could do it too, with a timer for each that costs more. */
  #inTime(answer: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const overdue = new Appointment({
        due: () => {
          reject(new Error(`no answer within ${this.#commandTimeoutMs} ms`));
          this.#distrust();
        },
      });
      this.#agenda.put(overdue, this.#clock.now() + this.#commandTimeoutMs);
      answer.then(
        (value) => {
          this.#agenda.remove(overdue);
          resolve(value);
        },
        (error) => {
          this.#agenda.remove(overdue);
          reject(error);
        },
      );
    });
  }

  async #info(section: string): Promise<Map<string, string>> {
    const text = await this.#io.info(section);
    return new Map(text.split("\r\n").flatMap((line) => (line.includes(":") ? [splitOnce(line)] : [])));
  }

  async #setting(name: string): Promise<string | undefined> {
    try {
      const reply = (await this.#io.config("GET", name)) as unknown;
      return Array.isArray(reply) ? String(reply[1]) : undefined;
    } catch {
      return undefined;
    }
  }

  /** What this Redis does not guarantee, and which setting would help. */
  async explain(): Promise<readonly string[]> {
    if (this.guarantee === "single") return [];
    const [replicas, lag] = [await this.#setting("min-replicas-to-write"), await this.#setting("min-replicas-max-lag")];
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

  #wayTo({ ca, sentinelPassword, clock, random, trouble = () => {} }: RedisOptions): Way {
    const place = this.#place;
    const { tls: isTls, ...access } = place.access;
    const tls: ConnectionOptions | undefined = isTls ? { ...(ca && { ca }) } : undefined;
    if (place.kind === "server") return { ...place.node, ...access, ...(tls && { tls }) };

    const finder = new PrimaryFinder(place, { tls, sentinelPassword, prefix: this.prefix });
    this.#finder = finder;
    return { ...access, Connector: primaryConnector({ finder, tls, clock, random, trouble }) };
  }

  /** For every connection to come, and for the one that is there. */
  async #authenticate({ username, password }: Access): Promise<void> {
    this.#io.options.username = username;
    this.#io.options.password = password;
    if (this.#io.status === "ready") await this.#io.auth(username, password);
  }

  async #prepare() {
    const connection: NewConnection = {
      guarantee: this.guarantee,
      run: (...call) => this.#send(...call),
      subscribe: (channel) => this.#io.subscribe(channel),
      info: (section) => this.#info(section),
      setting: (name) => this.#setting(name),
    };
    try {
      for (const user of this.#users) await user.prepare?.(connection);
    } catch (error) {
      if (this.#closed) return;
      this.#firstTry?.reject(error);
      this.#trouble(`Redis: not usable yet: ${error instanceof Error ? error.message : String(error)}`);
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

  /** A server that took too long may have gone silent for good with the socket open: only a new connection tells. */
  #distrust() {
    if (this.#closed) return;
    // Down at once, not when the socket is closed: whoever looks until then must not send into it.
    this.#goDown();
    this.#io.disconnect(true);
  }
}

type Way = Pick<IoOptions, "username" | "password" | "db" | "tls" | "Connector"> & Partial<RedisNode>;
type Access = Pick<Credentials, "username" | "password">;

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, at), line.slice(at + 1)];
}
