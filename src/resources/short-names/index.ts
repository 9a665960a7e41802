// A folder of its own, so that a command that only prints names does not load the schemas of our kinds.

/**
 * Shortens all names with a hash in a text, so that people can read and type them:
 * `rr-oiiu3npg5aespnb5m7ukp485e49fn35jd7ojul0j68nnbbkpn91g-1` becomes `rr-oiiu3npg-1`.
 */
export function shortNames(text: string): string {
  return text.replace(
    /\b((?:[a-z]+-)?)([0-9a-v]{52})\b/g,
    (_, before: string, hash: string) => before + hash.slice(0, shown),
  );
}

const shown = 8;

/** Whether `text` is `name`, or `name` with its hash shortened to four characters or more. */
export function isNamed(text: string, name: string): boolean {
  if (text === name) return true;
  const [, before = "", hash = "", after = ""] = /^(.*?)([0-9a-v]{52})(.*)$/.exec(name) ?? [];
  if (hash === "" || !text.startsWith(before) || !text.endsWith(after)) return false;
  const part = text.slice(before.length, text.length - after.length);
  return part.length >= 4 && hash.startsWith(part);
}
