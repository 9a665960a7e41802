import type { Redis } from "ioredis";
import { backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";

/** A name and a password that expire. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly expiresInMs: number;
}

export type CredentialSource = () => Promise<Credentials>;

export interface RenewCredentialsOptions {
  readonly source: CredentialSource;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the renewal. */
  readonly signal: AbortSignal;
  readonly onProblem: (message: string) => void;
}

const backoff = { baseMs: 500, maxMs: 30_000, jitter: 0.5 };

/** Authenticates `io` with new credentials long before the old ones expire. Rejects if the first ones cannot be had. */
export async function renewCredentials(io: Redis, options: RenewCredentialsOptions): Promise<void> {
  const { expiresInMs } = await authenticate(io, options);
  void renewUntilAborted(io, expiresInMs, options);
}

async function renewUntilAborted(io: Redis, expiresInMs: number, options: RenewCredentialsOptions): Promise<void> {
  const { clock, random, signal, onProblem } = options;
  // A third of the lifetime is left for a token endpoint, or a server, that does not respond.
  let delayMs = (expiresInMs * 2) / 3;
  for (let failures = 0; ; ) {
    await sleep(clock, delayMs, signal, { background: true }).catch(() => {});
    if (signal.aborted) return;
    try {
      const renewed = await authenticate(io, options);
      failures = 0;
      delayMs = (renewed.expiresInMs * 2) / 3;
    } catch (error) {
      onProblem(`Redis: no new credentials: ${error instanceof Error ? error.message : String(error)}`);
      delayMs = backoffMs(++failures, backoff, random.fraction());
    }
  }
}

/** Sets new credentials for later connections, and for the present one. */
async function authenticate(io: Redis, { source, signal }: RenewCredentialsOptions): Promise<Credentials> {
  const credentials = await source();
  if (signal.aborted) return credentials;
  io.options.username = credentials.username;
  io.options.password = credentials.password;
  if (io.status === "ready") await io.auth(credentials.username, credentials.password);
  return credentials;
}
