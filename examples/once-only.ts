// The same event may arrive by webhook and by poll, at several replicas: it is handled once.
//   npx tsx examples/once-only.ts
import { keyOf, memoryClaims, once } from "../src/coordination/index.ts";
import { systemClock, systemRandom } from "../src/time/index.ts";

const claims = memoryClaims({ clock: systemClock(), random: systemRandom() });

async function review(sha: string) {
  return once(claims, keyOf("review", "gitlab.example.com", 42, 7, sha), { effect: "idempotent" }, async () => {
    console.log(`reviewing ${sha}`);
    return "2 comments";
  });
}

console.log(await Promise.all([review("abc"), review("abc"), review("def")]));
console.log(await review("abc"));
await claims.close();
