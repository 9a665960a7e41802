import type { Redis } from "ioredis";
import { backoffMs, type Clock, type Random, type Timer } from "../../time/index.ts";

/** A name and a password that are good for a while. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly expiresInMs: number;
}

export type CredentialSource = () => Promise<Credentials>;

export interface FreshCredentialsOptions {
  readonly source: CredentialSource;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with each new pair: the next connection begins with it, and the present one has to go on with it. */
  readonly use: (credentials: Credentials) => Promise<void>;
  readonly onProblem: (message: string) => void;
}

/** Gets new credentials long before the old ones end, and again soon when that fails. */
export class FreshCredentials {
  readonly #options: FreshCredentialsOptions;
  #timer: Timer | undefined;
  #failures = 0;
  #stopped = false;

  constructor(options: FreshCredentialsOptions) {
    this.#options = options;
  }

  /** Rejects if there are none to begin with. */
  async begin(): Promise<void> {
    const credentials = await this.#options.source();
    await this.#options.use(credentials);
    this.#again(credentials.expiresInMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #again(expiresInMs: number) {
    // A third of the time is left for a token endpoint, or a server, that is away.
    this.#wakeIn((expiresInMs * 2) / 3);
  }

  #wakeIn(delayMs: number) {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(delayMs, () => void this.#renew(), { background: true });
  }

  async #renew() {
    const { source, use, random, onProblem } = this.#options;
    try {
      const credentials = await source();
      if (this.#stopped) return;
      await use(credentials);
      this.#failures = 0;
      this.#again(credentials.expiresInMs);
    } catch (error) {
      onProblem(`Redis: no new credentials: ${error instanceof Error ? error.message : String(error)}`);
      this.#wakeIn(backoffMs(++this.#failures, { baseMs: 500, maxMs: 30_000, jitter: 0.5 }, random.fraction()));
    }
  }
}

/** For every connection to come, and for the one that is there. */
export async function authenticate(io: Redis, { username, password }: Credentials): Promise<void> {
  io.options.username = username;
  io.options.password = password;
  if (io.status === "ready") await io.auth(username, password);
}
