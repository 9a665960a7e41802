const heading = "## Unreleased";

/** Turns the section "Unreleased" into that of a version, below an empty one. Throws if there is nothing to release. */
export function releaseChangelog(
  text: string,
  { version, date }: { readonly version: string; readonly date: string },
): string {
  const begin = text.indexOf(`${heading}\n`);
  if (begin < 0) throw new Error(`CHANGELOG.md has no section "${heading}"; add it above the newest version`);
  const rest = text.slice(begin + heading.length);
  const end = rest.search(/^## /m);
  const notes = (end < 0 ? rest : rest.slice(0, end)).trim();
  if (notes === "") throw new Error(`the section "${heading}" of CHANGELOG.md is empty; describe the changes there`);
  return `${text.slice(0, begin)}${heading}\n\n## ${version} (${date})${rest}`;
}
