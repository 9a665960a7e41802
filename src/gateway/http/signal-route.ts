import type { SignalReader } from "../../resources/index.ts";

/** Which path takes whose payloads. */
export interface SignalRoute {
  readonly path: string;
  readonly reader: SignalReader;
  /** Whether its sender comes again after 429. Alertmanager does not, and is told 503 instead. */
  readonly retries429: boolean;
}
