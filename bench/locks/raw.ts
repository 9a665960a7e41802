import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { type Entry, ttlMs } from "./contender.ts";

/**
 * The limit: what a careful user writes by hand with ioredis, in two commands per pair. No fence, no queue, no renewal,
 * no deadline, and no waiting: it is only used where each key is free.
 */
export const raw: Entry = {
  name: "raw ioredis 6",
  sends: ["set", "evalsha"],
  async open(url) {
    const redis = new Redis(url);
    const sha = (await redis.script("LOAD", compareAndDelete)) as string;
    const prefix = randomBytes(12).toString("base64url");
    let counter = 0;
    return {
      async acquire(key) {
        const token = `${prefix}.${(counter++).toString(36)}`;
        const answer = await redis.set(key, token, "PX", ttlMs, "NX");
        if (answer !== "OK") throw new Error(`${key} is held, though no other worker uses it`);
        return { release: () => redis.evalsha(sha, 1, key, token) };
      },
      close: async () => redis.disconnect(),
    };
  },
};

const compareAndDelete = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;
