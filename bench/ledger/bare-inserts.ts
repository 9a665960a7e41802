import pg from "pg";
import { machineMs } from "../locks/machine-time.ts";
import { sample } from "./sample.ts";

const together = 500;

/** What PostgreSQL takes by itself: the text of so many events in a table without an index, durable in portions. */
export async function bareInsertsPerSecond(url: string, count: number): Promise<number> {
  const texts = Array.from({ length: count }, (_, i) => JSON.stringify(sample(i)));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE bare (line text NOT NULL)");
  const startedAt = machineMs();
  for (let i = 0; i < count; i += together) {
    await client.query("INSERT INTO bare SELECT unnest($1::text[])", [texts.slice(i, i + together)]);
  }
  const rate = (1_000 * count) / (machineMs() - startedAt);
  await client.end();
  return rate;
}
