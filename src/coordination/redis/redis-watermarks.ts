import { CoordinationError } from "../errors.ts";
import { type Key, keyHash } from "../key.ts";
import type { WatermarkRecord, WatermarkStore } from "../watermarks/watermarks.ts";
import { rethrowRedisError, type Scripts, script } from "./script.ts";

export interface RedisWatermarksOptions {
  readonly connection: Scripts;
  /** Default: the connection's. */
  readonly prefix?: string;
}

/**
 * A watermark is a hash that never expires: key, rev, fence, at, id. The key in plain text is for display, and to
 * detect another key under the same name.
 *
 * KEYS  the watermark
 * Reply: {} if there is none, else {key, rev, fence, at, id}
 */
const readIt = script(`
local fields = redis.call('HMGET', KEYS[1], 'key', 'rev', 'fence', 'at', 'id')
return fields[2] and fields or {}
`);

/**
 * KEYS  the watermark
 * ARGV  expected rev (0: none), key, fence, at, id
 * Reply: {1, rev} written; {0, fence} a larger fence was here; else the reply of `readIt`, after a -1
 */
const writeIt = script(`
local K, expected, fence = KEYS[1], ARGV[1], ARGV[3]
local key, rev, stored, at, id = unpack(redis.call('HMGET', K, 'key', 'rev', 'fence', 'at', 'id'))

-- Fences may be longer than Lua's numbers are exact: decimal digits compare by length, then as text.
if stored and (#stored > #fence or (#stored == #fence and stored > fence)) then return { 0, stored } end
if (rev or '0') ~= expected or (key and key ~= ARGV[2]) then
  return rev and { -1, key, rev, stored, at, id } or { -1 }
end
local next = string.format('%.0f', tonumber(expected) + 1)
redis.call('HSET', K, 'key', ARGV[2], 'rev', next, 'fence', fence, 'at', ARGV[4], 'id', ARGV[5])
return { 1, next }
`);

/**
 * Watermarks in Redis. A server that restarts empty, or a replica that takes over without the latest writes, has lost some
 * of them, and streams begin anew or further back: let it persist.
 */
export function redisWatermarks({ connection, prefix = connection.prefix }: RedisWatermarksOptions): WatermarkStore {
  const nameOf = (key: Key) => `${prefix}m:${keyHash(key)}`;
  return {
    guarantee: connection.guarantee,
    async read(key) {
      const reply = await connection.run(readIt, [nameOf(key)], []).catch(rethrowRedisError(key));
      return parseRecord(reply as readonly string[], key);
    },
    async write(key, { cursor, fence }, expected) {
      const rev = expected === "absent" ? "0" : expected;
      const args = [rev, key, String(fence), cursor.updatedAt, cursor.id ?? ""];
      const [code, ...rest] = (await connection
        .run(writeIt, [nameOf(key)], args)
        .catch(rethrowRedisError(key))) as Reply;
      const [value = ""] = rest;
      if (code === 1) return { kind: "written", record: { cursor, fence, revision: value } };
      if (code === 0) return { kind: "stale", fence: BigInt(value) };
      return { kind: "conflict", current: parseRecord(rest, key) };
    },
  };
}

type Reply = readonly [code: number, ...string[]];

function parseRecord(fields: readonly string[], key: Key): WatermarkRecord | undefined {
  const [clear, revision = "", fence = "", updatedAt = "", id = ""] = fields;
  if (clear === undefined) return undefined;
  if (clear !== key)
    throw new CoordinationError("collision", `${key} collides with the watermark of another key: ${clear}`);
  return { revision, fence: BigInt(fence), cursor: { updatedAt, ...(id !== "" && { id }) } };
}
