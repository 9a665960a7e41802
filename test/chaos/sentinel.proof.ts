import { describe } from "vitest";
import { keepTheirPromises } from "./keep-their-promises.ts";

describe.concurrent("locks of several processes on a Redis with Sentinels keep their promises when", {
  timeout: 120_000,
}, () => {
  keepTheirPromises("sentinel", 0);
});
