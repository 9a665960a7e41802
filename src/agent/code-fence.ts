/** The length of the longest run of backticks, which a fence around the text has to exceed. */
export function longestBacktickRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
