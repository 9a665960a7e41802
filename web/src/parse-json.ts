/**
 * Parses JSON of the server. Characters that change the direction of text become visible as `\u202e`: a name from outside
 * could otherwise reorder the sentence around it.
 */
export function parseJson<T>(text: string): T {
  return JSON.parse(
    text.replace(/\p{Bidi_Control}/gu, (character) => `\\\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
