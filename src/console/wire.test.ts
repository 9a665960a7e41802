import { expect, it } from "vitest";
import { ledgerEventTypes } from "../ledger/index.ts";
import { ledgerTypes } from "./wire.ts";

it("the web app offers every type of ledger events to filter by", () => {
  expect(ledgerTypes).toEqual(ledgerEventTypes);
});
