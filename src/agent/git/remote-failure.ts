import { RemoteError, type RemoteErrorKind } from "../remote-error.ts";

const refusedToken =
  /authentication failed|could not read (username|password)|HTTP Basic: access denied|HTTP 401|error: 401/i;

/** Messages of git, in English, and the kinds of errors that they stand for. The first match decides. */
const messageKinds: readonly (readonly [RegExp, RemoteErrorKind])[] = [
  [refusedToken, "denied"],
  [/access denied|HTTP 403|error: 403/i, "denied"],
  [/not allowed to push|protected branch|not allowed to (upload|force push)/i, "denied"],
  [/repository .* not found|could not be found|does not appear to be a git repository|HTTP 404|error: 404/i, "missing"],
  [/couldn't find remote ref|not our ref|unadvertised object|does not allow request for/i, "missing"],
  [
    /hook declined|pre-receive|deny updating a hidden ref|transport '.*' not allowed|HTTP 3\d\d|error: 3\d\d/i,
    "refused",
  ],
];

/** Maps the output of git to an error. An unrecognised error is worth a retry. */
export function remoteFailure(command: string, stderr: string): RemoteError {
  const kind = messageKinds.find(([pattern]) => pattern.test(stderr))?.[1] ?? "unavailable";
  const details = isTokenRefused(stderr) ? { status: 401 } : {};
  return new RemoteError(kind, `git ${command} failed: ${stderr.trim().slice(-1_000)}`, details);
}

/** Whether the server rejects the token. Another one may be valid. */
export function isTokenRefused(stderr: string): boolean {
  return refusedToken.test(stderr);
}
