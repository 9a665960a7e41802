import { withoutCredentials } from "./without-credentials.ts";

/** Well-known shapes of tokens: GitHub, GitLab, Slack, AWS, JWT, and what follows `Bearer`. */
const tokens =
  /\b(gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)|(?<=\bBearer )[\w.~+/-]{8,}=*/g;

/** `text` without these secrets, without what looks like a token, and without the credentials of URLs. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, "[redacted]");
  return withoutCredentials(shown.replace(tokens, "[redacted]"));
}
