/** Splits the text of a notice into its first sentence, which fits a subject line or a pager, and the rest. */
export function splitTitle(text: string): { readonly title: string; readonly details: string } {
  const end = text.search(/(?<=[.?!])\s+(?=\p{Lu})/u);
  if (end < 0) return { title: text, details: "" };
  return { title: text.slice(0, end).replace(/\.$/, ""), details: text.slice(end).trim() };
}
