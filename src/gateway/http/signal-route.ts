import type { SignalReader } from "../../resources/index.ts";

/** Which path takes whose payloads. */
export interface SignalRoute {
  readonly path: string;
  readonly reader: SignalReader;
  /** Whether the sender retries after 429. Alertmanager does not, and gets 503 instead. */
  readonly retries429: boolean;
  /** Whether its reader is made of a mapping that the installation configures. */
  readonly isMapped?: boolean;
  /** With it, a request without a bearer token is accepted if its body is signed. */
  readonly signature?: SignedBody;
}

/** A sender that signs its requests: HMAC-SHA256 of the body in hexadecimal, `v1=…`, several separated by commas. */
export interface SignedBody {
  /** In lower case. */
  readonly header: string;
  /** The secrets that count, read for each request because they change. None: no signature is accepted. */
  readonly secrets: () => Promise<readonly string[]>;
}
