import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesFor, type LockCase, lockCases, runCase } from "../../src/coordination/locks/locks.contract.ts";
import { settle } from "../doubles/manual-clock.ts";
import { type BrokenLocks, brokenLocks, wholeLocks } from "./broken-locks.ts";
import type { VirtualBench } from "./virtual-bench.ts";

/** Which cases each kind of locks fails. */
const failures = new Map<BrokenLocks, readonly LockCase[]>();

beforeAll(async () => {
  for (const locks of [...wholeLocks, ...brokenLocks]) failures.set(locks, await failedBy(locks));
}, 120_000);

afterAll(() => console.log(table()));

describe("the contract of locks", () => {
  it.each(wholeLocks)("lets locks pass that $name", (whole) => {
    expect(failures.get(whole)).toEqual([]);
  });

  it.each(brokenLocks)("notices locks that $name", (broken) => {
    expect(failures.get(broken)).not.toEqual([]);
  });

  it.each(lockCases)("needs the case: $name", (lockCase) => {
    expect(whoFails(lockCase)).not.toEqual([]);
  });
});

async function failedBy(locks: BrokenLocks): Promise<readonly LockCase[]> {
  const failed = [];
  for (const lockCase of casesFor(locks.abilities)) if (!(await passes(lockCase, locks.bench()))) failed.push(lockCase);
  return failed;
}

async function passes(lockCase: LockCase, bench: VirtualBench): Promise<boolean> {
  let outcome: boolean | undefined;
  runCase(lockCase, bench).then(
    () => {
      outcome = true;
    },
    () => {
      outcome = false;
    },
  );
  // A case that neither moves time nor gets on in a thousand turns of the event loop hangs.
  for (let idle = 0; idle < 1_000 && outcome === undefined; idle++) {
    await settle();
    if (bench.moving) idle = 0;
  }
  await bench.close();
  return outcome ?? false;
}

function whoFails(lockCase: LockCase): readonly BrokenLocks[] {
  return brokenLocks.filter((broken) => failures.get(broken)?.includes(lockCase));
}

function table(): string {
  const legend = brokenLocks.map(({ name }, i) => `${number(i)}  locks that ${name}`);
  const rows = lockCases.map((lockCase) => {
    const by = whoFails(lockCase).map((broken) => brokenLocks.indexOf(broken));
    return `${lockCase.name}: ${by.map(number).join(" ")}`;
  });
  return `Broken locks\n${legend.join("\n")}\n\nCases, and the broken locks that fail them\n${rows.join("\n")}`;
}

function number(i: number): string {
  return String(i + 1).padStart(2, "0");
}
