import { describe } from "vitest";
import { keepTheirPromises } from "./keep-their-promises.ts";

// The long version is `npm run chaos -- --backend kubernetes`.
describe.concurrent("locks of several processes on a real API server keep their promises when", {
  timeout: 120_000,
}, () => {
  keepTheirPromises("kubernetes", 15);
});
