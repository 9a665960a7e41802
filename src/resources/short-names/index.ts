// Imported by itself where names are printed, so that a short command need not load the schemas of our kinds.

/**
 * Names with a hash in them, such as an incident's, as people can read and type them: `rr-oiiu3npg-1` is
 * `rr-oiiu3npg5aespnb5m7ukp485e49fn35jd7ojul0j68nnbbkpn91g-1`. All of them, wherever they stand in a text.
 */
export function shortNames(text: string): string {
  return text.replace(
    /\b((?:[a-z]+-)?)([0-9a-v]{52})\b/g,
    (_, before: string, hash: string) => before + hash.slice(0, shown),
  );
}

const shown = 8;

/** Whether `text` means `name`: the name itself, or with the hash cut short, though not below four characters. */
export function isNamed(text: string, name: string): boolean {
  if (text === name) return true;
  const [, before = "", hash = "", after = ""] = /^(.*?)([0-9a-v]{52})(.*)$/.exec(name) ?? [];
  if (hash === "" || !text.startsWith(before) || !text.endsWith(after)) return false;
  const part = text.slice(before.length, text.length - after.length);
  return part.length >= 4 && hash.startsWith(part);
}
