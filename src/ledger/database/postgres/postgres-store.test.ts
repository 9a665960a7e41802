import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresService, query, startPostgres } from "../../../../test/services/postgres.ts";
import { chain, ledgerDatabaseContract } from "../ledger-database.contract.ts";
import { ledgerDatabase } from "../ledger-database.ts";
import { postgresStore } from "./postgres-store.ts";

let postgres: PostgresService;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres.stop());

ledgerDatabaseContract("PostgreSQL", async () => {
  const url = await postgres.newDatabase();
  return { store: postgresStore({ url }), again: () => postgresStore({ url }), dispose: async () => {} };
});

describe("PostgreSQL", () => {
  it("is an error while it is frozen, and works afterwards", async () => {
    const database = ledgerDatabase(postgresStore({ url: await postgres.newDatabase(), timeoutMs: 300 }));
    // On a busy machine the first answers may take longer than that.
    const answers = () => expect.poll(() => database.writers().catch(() => undefined));
    await answers().toEqual([]);
    postgres.pause();
    try {
      await expect(database.writers()).rejects.toMatchObject({ name: "LedgerError", code: "unavailable" });
      await expect(database.writers()).rejects.toMatchObject({ code: "unavailable" });
    } finally {
      postgres.resume();
    }

    await answers().toEqual([]);
    await database.close();
  }, 60_000);

  it("is an error with its place and without a password while it is down", async () => {
    const url = `postgres://interlock:${postgres.password}@127.0.0.1:1/ledger`;
    const database = ledgerDatabase(postgresStore({ url }));

    const error = await database.writers().catch((error) => error);

    expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("127.0.0.1:1/ledger") });
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(postgres.password);
    await database.close();
  });

  it("with a wrong password reports it, without the password", async () => {
    const database = ledgerDatabase(postgresStore({ url: postgres.url.replace(postgres.password, "wr0ng-one") }));

    const error = await database.writers().catch((error) => error);

    expect(error.message).toMatch(/password authentication failed/);
    expect(error.message).not.toContain("wr0ng-one");
    await database.close();
  });

  it("needs no right to create existing tables", async () => {
    const url = await postgres.newDatabase();
    await ledgerDatabase(postgresStore({ url })).writers();
    await query(url, "CREATE ROLE clerk LOGIN PASSWORD 'clerk-s-own'; GRANT SELECT, INSERT ON ledger_rows TO clerk");
    const database = ledgerDatabase(postgresStore({ url: url.replace(/interlock:[^@]*/, "clerk:clerk-s-own") }));

    await database.add(chain("w-1", [{ id: "a", type: "run.created", at: "2026-11-15T10:00:00.000Z", facts: {} }]));

    expect(await database.writers()).toEqual(["w-1"]);
    await database.close();
  });
});
