const redacted = "[redacted]";

/** Well-known formats of keys and tokens. Every pattern is linear in the length of the text, which may be hostile. */
const formats: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  {
    what: "a private key",
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----)[\w+/=\s:,.\\-]){0,8000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)/g,
  },
  { what: "a GitLab token", pattern: /\bgl(?:pat|dt|rtr?|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\w-]{20,}/g },
  { what: "a GitHub token", pattern: /\b(?:gh[pousr]_|github_pat_)\w{20,}/g },
  { what: "an Anthropic key", pattern: /\bsk-ant-[\w-]{16,}/g },
  // A digit distinguishes it from hyphenated words.
  { what: "an API key", pattern: /\bsk-(?=[\w-]{0,100}\d)[\w-]{20,}/g },
  { what: "a payment key", pattern: /\b[sr]k_(?:live|test)_\w{16,}/g },
  { what: "a Slack token", pattern: /\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}/g },
  { what: "an AWS key", pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/g },
  { what: "a Google key", pattern: /\bAIza[\w-]{35}|\bya29\.[\w-]{20,}/g },
  { what: "an Atlassian token", pattern: /\bATATT[\w=-]{20,}/g },
  { what: "an npm token", pattern: /\bnpm_[A-Za-z0-9]{36}/g },
  { what: "a Hugging Face token", pattern: /\bhf_[A-Za-z0-9]{30,}/g },
  { what: "a SendGrid key", pattern: /\bSG\.[\w-]{16,64}\.[\w-]{16,}/g },
  // Its second part identifies it: to look for the beginning of the first one within a long word takes quadratic time.
  { what: "a JSON Web Token", pattern: /(?<![\w-])[\w-]{10,4000}\.eyJ[\w-]{8,8000}\.[\w-]*/g },
  { what: "a bearer token", pattern: /(?<=\bBearer )[\w.~+/-]{8,}=*/g },
];

/** `text` without anything in the format of a key, plain or in base64. */
export function withoutKeys(text: string): string {
  let shown = text;
  for (const { pattern } of formats) shown = shown.replace(pattern, redacted);
  return shown.replace(base64Run, (run) => (keyIn(decodeBase64(run)) === undefined ? run : redacted));
}

/** The kind of the key in `text`, plain or in base64; undefined if there is none. */
export function findKey(text: string): string | undefined {
  const found = keyIn(text);
  if (found !== undefined) return found;
  for (const [run] of text.matchAll(base64Run)) {
    const within = keyIn(decodeBase64(run));
    if (within !== undefined) return `${within} in base64`;
  }
  return undefined;
}

/** Long enough for the shortest format, and no longer than the stack of the expression allows. */
const base64Run = /[A-Za-z0-9+/_-]{24,1000000}={0,2}/g;

/** What follows `Bearer` may be any word, such as `Bearer authentication`, so it alone does not make a text a key. */
function keyIn(text: string): string | undefined {
  return formats.find(({ what, pattern }) => what !== "a bearer token" && text.search(pattern) >= 0)?.what;
}

function decodeBase64(run: string): string {
  return Buffer.from(run, "base64").toString("latin1");
}
