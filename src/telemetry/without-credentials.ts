/**
 * `text` with the user and password of every URL in it taken out, and the values of parameters such as
 * `private_token`. In doubt it removes too much. Linear in the length of `text`, which may be hostile.
 */
export function withoutCredentials(text: string): string {
  // This runs for every logged string, and nearly none has a URL.
  if (!text.includes("://")) return text;
  return text.replace(/\S+/g, (word) =>
    word.includes("://") ? hideUser(word).replace(secretParameter, "$1[redacted]") : word,
  );
}

/** Whether a field, header or parameter of this name holds a secret. `tokenCount` and `secretName` do not. */
export function isSecretName(name: string): boolean {
  return secretName.test(name.replace(/[-_.]/g, ""));
}

const secretName =
  /^(pass|pwd)$|(password|passwd|passphrase|secret|token|authorization|cookie|credential|apikey|accesskey|privatekey|signature)s?$/i;

const secretParameter = /([?&][\w.-]*(?:password|passwd|secret|token|api_?key|access_?key|signature)=)[^&#]*/gi;

function hideUser(word: string): string {
  // In a web address an @ in the path is ordinary (`/pkg@1.2`), so only the part before the first / counts.
  const hidden = word.replace(/(https?:\/\/)[^/?#]*@/gi, "$1[redacted]@");

  // Elsewhere (redis, postgres, …) the last @ ends the password, which may contain an unencoded /.
  const scheme = /\b(?!https?:)[a-z][a-z0-9+.-]{0,20}:\/\//i.exec(hidden);
  const start = scheme ? scheme.index + scheme[0].length : hidden.length;
  const at = hidden.lastIndexOf("@");
  return at < start ? hidden : `${hidden.slice(0, start)}[redacted]${hidden.slice(at)}`;
}
