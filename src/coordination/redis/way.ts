import type { ConnectionOptions } from "node:tls";
import type { RedisOptions as IoOptions } from "ioredis";
import type { Clock, Random } from "../../time/index.ts";
import { prefixOf, type RedisNode, type RedisPlace } from "./place.ts";
import { PrimaryFinder, primaryConnector } from "./primary.ts";

export interface WayOptions {
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string | undefined;
  /** Of the Sentinels, where they ask for one. */
  readonly sentinelPassword?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when the primary cannot be found, with a message that is safe to log. */
  readonly trouble: (message: string) => void;
}

/** How ioredis gets to the server, or to whichever of several is the primary now. */
export interface Way {
  readonly settings: Pick<IoOptions, "username" | "password" | "db" | "tls" | "Connector"> & Partial<RedisNode>;
  /** Where there is a primary to be found. */
  readonly finder?: PrimaryFinder;
}

export function wayTo(place: RedisPlace, { ca, sentinelPassword, clock, random, trouble }: WayOptions): Way {
  const { tls: isTls, ...access } = place.access;
  const tls: ConnectionOptions | undefined = isTls ? { ...(ca && { ca }) } : undefined;
  if (place.kind === "server") return { settings: { ...place.node, ...access, ...(tls && { tls }) } };

  const finder = new PrimaryFinder(place, { tls, sentinelPassword, prefix: prefixOf(place) });
  return { finder, settings: { ...access, Connector: primaryConnector({ finder, tls, clock, random, trouble }) } };
}
