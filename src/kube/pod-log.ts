import type { Call } from "./client.ts";

/** The output of one container. */
export interface PodLogQuery {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Continue with what is written from then on, until the container ends. */
  readonly follow: boolean;
  /** Only lines from then on, to the second. */
  readonly sinceTime?: string;
  readonly tailLines?: number;
}

/**
 * Port: the output of containers, which only their kubelets have. Each line begins with the time at which it was written, in
 * nanoseconds, and a space. The stream ends with the container, or earlier if a connection is lost: then it throws or ends.
 */
export type PodLogs = (query: PodLogQuery, call?: Call) => AsyncIterable<Buffer>;
