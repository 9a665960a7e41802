import { CoordinationError } from "../errors.ts";
import { hashOf, type Key } from "../key.ts";
import type { WatermarkRecord, WatermarkStore } from "../watermarks.ts";
import { refusing } from "./refusal.ts";
import { type Scripts, script } from "./script.ts";
import { readScript, writeScript } from "./watermark-script.ts";

export interface RedisWatermarksOptions {
  readonly connection: Scripts;
  /** Default: the connection's. */
  readonly prefix?: string;
}

const readIt = script(readScript);
const writeIt = script(writeScript);

/**
 * Watermarks in Redis. A server that restarts empty, or a replica that takes over without the latest writes, has lost some
 * of them, and streams begin anew or further back: let it persist.
 */
export function redisWatermarks({ connection, prefix = connection.prefix }: RedisWatermarksOptions): WatermarkStore {
  const nameOf = (key: Key) => `${prefix}m:${hashOf(key)}`;
  return {
    guarantee: connection.guarantee,
    async read(key) {
      const reply = await connection.run(readIt, [nameOf(key)], []).catch(refusing(key));
      return recordIn(reply as readonly string[], key);
    },
    async write(key, { cursor, fence }, expected) {
      const rev = expected === "absent" ? "0" : expected;
      const args = [rev, key, String(fence), cursor.updatedAt, cursor.id ?? ""];
      const [code, ...rest] = (await connection.run(writeIt, [nameOf(key)], args).catch(refusing(key))) as Reply;
      const [told = ""] = rest;
      if (code === 1) return { kind: "written", record: { cursor, fence, revision: told } };
      if (code === 0) return { kind: "stale", fence: BigInt(told) };
      return { kind: "conflict", current: recordIn(rest, key) };
    },
  };
}

type Reply = readonly [code: number, ...string[]];

function recordIn(fields: readonly string[], key: Key): WatermarkRecord | undefined {
  const [clear, revision = "", fence = "", updatedAt = "", id = ""] = fields;
  if (clear === undefined) return undefined;
  if (clear !== key)
    throw new CoordinationError("collision", `${key} collides with the watermark of another key: ${clear}`);
  return { revision, fence: BigInt(fence), cursor: { updatedAt, ...(id !== "" && { id }) } };
}
