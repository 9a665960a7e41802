import type { Dice } from "../chaos/dice.ts";

/** What senders get wrong, and what attackers try. */
const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  " ",
  "0001-01-01T00:00:00Z",
  "9999-99-99T99:99:99Z",
  "a/b/c/d",
  "../../etc/passwd",
  "payment/deployment/x",
  "\u0000",
  "\ud800",
  "​‮",
  "x".repeat(5_000),
  "é".repeat(300),
  [],
  {},
  [[[[]]]],
  { __proto__: 1 },
  { constructor: { prototype: { polluted: true } } },
];

/** `value` with something in it changed, as text that may no longer be JSON. */
export function mutated(value: unknown, dice: Dice): string {
  let json = structuredClone(value);
  for (let i = 0, times = 1 + below(dice, 3); i < times; i++) json = withChange(json, dice);
  const text = JSON.stringify(json) ?? "";
  return dice.chance(0.3) ? torn(text, dice) : text;
}

function withChange(value: unknown, dice: Dice): unknown {
  if (Array.isArray(value) && value.length > 0 && dice.chance(0.8)) return inList(value, dice);
  if (isObject(value) && Object.keys(value).length > 0 && dice.chance(0.9)) return inObject(value, dice);
  return dice.chance(0.05) ? nested(below(dice, 2_000)) : dice.pick(odd);
}

function inList(list: readonly unknown[], dice: Dice): unknown {
  const at = below(dice, list.length);
  if (dice.chance(0.1)) return list.filter((_, i) => i !== at);
  if (dice.chance(0.1)) return [...list, ...list];
  return list.map((item, i) => (i === at ? withChange(item, dice) : item));
}

function inObject(object: Readonly<Record<string, unknown>>, dice: Dice): unknown {
  const key = dice.pick(Object.keys(object));
  const { [key]: value, ...rest } = object;
  if (dice.chance(0.15)) return rest;
  if (dice.chance(0.1)) return { ...object, [`${key}x`]: dice.pick(odd) };
  if (dice.chance(0.05)) return JSON.parse(`{"__proto__":${JSON.stringify(object)}}`);
  return { ...rest, [key]: withChange(value, dice) };
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

/** Bytes lost, doubled or changed on the way. */
function torn(text: string, dice: Dice): string {
  const at = below(dice, text.length + 1);
  const to = Math.min(text.length, at + below(dice, 20));
  switch (below(dice, 4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(to);
    case 2:
      return text.slice(0, to) + text.slice(at);
    default:
      return text.slice(0, at) + String.fromCharCode(below(dice, 0x3000)) + text.slice(at + 1);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function below(dice: Dice, bound: number): number {
  return dice.whole(0, Math.max(0, bound - 1));
}
