import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../telemetry/index.ts";
import type { Admission } from "../api/admission.ts";
import type { Api } from "../api/api.ts";
import type { Resource } from "../api/resource.ts";
import type { WatchOptions } from "../api/watch.ts";
import type { Caller } from "./authenticate.ts";
import type { BodyReader } from "./read-body.ts";

/** One request and its response, with everything that handlers need. */
export interface Exchange {
  readonly api: Api;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** The policies for writes. */
  readonly admission: Admission;
  /** Responds to a watch with a stream of events. */
  readonly watches: { begin(exchange: Exchange, resource: Resource, options: WatchOptions): void };
  readonly bodies: BodyReader;
  readonly log: Logger | undefined;
}
