import { randomBytes } from "node:crypto";

/** Where chance comes from, so that a simulation can repeat it. */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A new identifier of 96 random bits: 16 characters of A–Z a–z 0–9 - _. */
  id(): string;
}

/** Chance from the operating system. */
export function systemRandom(): Random {
  return {
    fraction: () => Math.random(),
    id: () => randomBytes(12).toString("base64url"),
  };
}
