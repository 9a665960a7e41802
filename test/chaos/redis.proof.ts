import { describe } from "vitest";
import { keepTheirPromises } from "./keep-their-promises.ts";

// The long version is `npm run chaos`. Scenarios are mostly waiting, so several run side by side.
describe.concurrent("locks of several processes on a real Redis keep their promises when", { timeout: 120_000 }, () => {
  keepTheirPromises("redis", 15);
});
