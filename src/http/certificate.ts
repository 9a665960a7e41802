import { createSecureContext } from "node:tls";
import { type Clock, sleep } from "../time/index.ts";

/** A certificate with its chain, and its private key, in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  readonly read: () => Promise<KeyPair>;
  readonly clock: Clock;
  /** Called once for each unusable state of the files. The current certificate stays in use. */
  readonly problem: (message: string) => void;
  readonly changed: () => void;
  /** How often the files are read. */
  readonly intervalMs?: number;
}

/** The certificate that a server uses, read again when its files change. */
export interface Certificate {
  readonly current: KeyPair;
  /** Calls `use` with each new pair until `signal` aborts. Only pairs that a server can use are passed on. */
  follow(use: (pair: KeyPair) => void, signal: AbortSignal): Promise<void>;
}

/** Options of every TLS server. */
export const tlsOptions = { minVersion: "TLSv1.2" } as const;

/** Reads the certificate. Throws if it cannot be used: a server must not start with a certificate that no client accepts. */
export async function openCertificate(options: CertificateOptions): Promise<Certificate> {
  const { clock, intervalMs = 5_000 } = options;
  let current = await options.read();
  assertUsable(current);
  let reported = "";

  async function readAgain(): Promise<KeyPair | undefined> {
    try {
      const pair = await readUsable(options.read);
      reported = "";
      return pair.cert === current.cert && pair.key === current.key ? undefined : pair;
    } catch (error) {
      const { message } = error as Error;
      if (message !== reported) options.problem(message);
      reported = message;
      return undefined;
    }
  }

  return {
    get current() {
      return current;
    },
    async follow(use, signal) {
      while (!signal.aborted) {
        await sleep(clock, intervalMs, signal, { background: true }).catch(() => {});
        const pair = signal.aborted ? undefined : await readAgain();
        if (!pair || signal.aborted) continue;
        current = pair;
        use(pair);
        options.changed();
      }
    },
  };
}

/** The two files change one after the other, so a pair that does not match is read once more before it is an error. */
async function readUsable(read: () => Promise<KeyPair>): Promise<KeyPair> {
  const first = await read();
  try {
    assertUsable(first);
    return first;
  } catch {
    const second = await read();
    assertUsable(second);
    return second;
  }
}

/** Throws if a server cannot use the pair: not PEM, or the key of another certificate. */
function assertUsable(pair: KeyPair): void {
  createSecureContext({ ...tlsOptions, ...pair });
}
