import type { Random } from "../../time/index.ts";

/** The five characters that end a generated name. */
export function nameSuffix(random: Random): string {
  return anyOf("bcdfghjklmnpqrstvwxz2456789", 5, random);
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const digits = (count: number) => anyOf("0123456789abcdef", count, random);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${anyOf("89ab", 1, random)}${digits(3)}-${digits(12)}`;
}

function anyOf(alphabet: string, count: number, random: Random): string {
  let text = "";
  for (let i = 0; i < count; i++) text += alphabet[Math.floor(random.fraction() * alphabet.length)];
  return text;
}
