/** The page with each part between `<!-- generated: NAME -->` and `<!-- end -->` replaced by the part of that name. */
export function fillMarkers(page: string, parts: ReadonlyMap<string, string>): string {
  const missing = new Set(parts.keys());
  const filled = page.replace(
    /(<!-- generated: (.+?) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const part = parts.get(name);
      if (part === undefined) throw new TypeError(`a page has a marker for ${name}, which is not generated`);
      missing.delete(name);
      return `${begin}${part}${end}`;
    },
  );
  if (missing.size > 0) throw new TypeError(`a page has no marker for ${[...missing].join(", ")}`);
  return filled;
}
