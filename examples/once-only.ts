// The same event may arrive by webhook and by poll, at several replicas: it is handled once.
//   npx tsx examples/once-only.ts
import { keyOf, once, openClaims } from "@interlock-ops/interlock/coordination";

const claims = await openClaims("memory:");

async function review(sha: string) {
  return once(claims, keyOf("review", "gitlab.example.com", 42, 7, sha), { effect: "idempotent" }, async () => {
    console.log(`reviewing ${sha}`);
    return "2 comments";
  });
}

console.log(await Promise.all([review("abc"), review("abc"), review("def")]));
console.log(await review("abc"));
await claims.close();
