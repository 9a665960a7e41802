import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const sheet = readFileSync(new URL("../../web/style/tokens.css", import.meta.url), "utf8");
const colors = new Map(
  [...sheet.matchAll(/(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }],
  ),
);
const surfaces = ["--surface", "--surface-page", "--surface-raised", "--surface-hover", "--surface-sunken"];
const tones = ["good", "bad", "wait", "active", "neutral"].map((tone) => `--tone-${tone}`);

/** Texts and what they are written on. */
const pairs = [
  ...["--text", "--text-soft", "--text-muted", "--accent", ...tones].flatMap((text) =>
    surfaces.map((surface) => [text, surface] as const),
  ),
  ...tones.map((tone) => [tone, `${tone}-soft`] as const),
  ...tones.flatMap((tone) => ["--text", "--text-soft"].map((text) => [text, `${tone}-soft`] as const)),
  ["--accent", "--accent-soft"] as const,
  ["--text-muted", "--accent-soft"] as const,
  ["--accent-text", "--accent"] as const,
];

describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
  it.each(pairs)("%s on %s has a contrast of at least 4.5", (text, surface) => {
    expect(contrast(color(text), color(surface))).toBeGreaterThanOrEqual(4.5);
  });

  function color(name: string): string {
    const found = colors.get(name);
    if (!found) throw new Error(`tokens.css has no colour ${name}`);
    return found[theme];
  }
});

/** As WCAG 2 defines it. */
function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
