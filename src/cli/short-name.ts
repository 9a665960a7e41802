/**
 * A name with a hash in it, such as an incident's, as people can read and type it: `rr-oiiu3npg-1` is
 * `rr-oiiu3npg5aespnb5m7ukp485e49fn35jd7ojul0j68nnbbkpn91g-1`.
 */
export function shortName(name: string): string {
  return name.replace(/[0-9a-v]{52}/, (hash) => hash.slice(0, shown));
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
