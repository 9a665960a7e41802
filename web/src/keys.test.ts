import { expect, it } from "vitest";
import { findShortcut, type Shortcut } from "./keys.ts";

const all: readonly Shortcut[] = ["/", "g n", "g a", "n"].map((keys) => ({ keys, label: keys, run: () => undefined }));

it.each([
  ["", "/", "/"],
  ["g", "n", "g n"],
  ["x", "n", "n"],
  ["", "n", "n"],
  ["", "g", undefined],
])("after %j the key %j is the shortcut %j", (prefix, key, keys) => {
  expect(findShortcut(all, prefix, key)?.keys).toBe(keys);
});
