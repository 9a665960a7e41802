const escapeCharacter = String.fromCharCode(27);

/** Escape sequences that set colours, move the cursor or set the title of the window. */
const sequences = new RegExp(
  `${escapeCharacter}(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\\p{Cc}]*(?:${escapeCharacter}\\\\|\\p{Cc})|[@-Z^_])`,
  "gu",
);
const controls = /[\p{Cc}\p{Bidi_Control}]/gu;

/** A line of output without colours; other control characters, which could hide or reorder text, become visible. */
export function plainText(line: string): string {
  return line
    .replace(sequences, "")
    .replace(controls, (character) => (character === "\t" ? character : visible(character)));
}

function visible(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
