import { Redis } from "ioredis";
import type { Entry } from "./contender.ts";

/**
 * The limit for hand-offs: a token in a list that Redis itself pushes to the next blocked client, in arrival order. No
 * lease, so a holder that dies blocks all waiters forever; no fence, one connection for each waiter, no way to give up.
 */
export const baton: Entry = {
  name: "BLPOP baton, no lease",
  sends: ["set", "blpop", "rpush"],
  async open(url) {
    const redis = new Redis(url);
    return {
      async acquire(key) {
        if (await redis.set(`${key}:made`, "1", "NX")) await redis.rpush(key, "token");
        await redis.blpop(key, 0);
        return { release: () => redis.rpush(key, "token") };
      },
      close: async () => redis.disconnect(),
    };
  },
};
