import { expect, it } from "vitest";
import { serveApi } from "../../src/apiserver/index.ts";
import { httpClient, namespaces } from "../../src/kube/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { volatileStore } from "../doubles/volatile-store.ts";

it("the server reports its time in milliseconds, so that all clients agree about it", async () => {
  const clock = new ManualClock();
  const random = systemRandom();
  const served = await serveApi({
    store: volatileStore(),
    clock,
    random,
    tokens: { admin: "a" },
    acceptPlainTokens: true,
  });
  try {
    await clock.advance(777);
    const client = httpClient({
      connection: { url: served.url, credentials: { token: "a" } },
      clock: new Late(),
      random,
    });

    await client.list(namespaces);

    expect(Math.floor(client.serverNowMs())).toBe(clock.wallMs());
  } finally {
    await served.close();
  }
});

/** The clock of a machine that is a day behind. */
class Late extends ManualClock {
  override wallMs(): number {
    return super.wallMs() - 86_400_000;
  }
}
