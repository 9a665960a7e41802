import { RemoteError, type RemoteErrorKind } from "../remote-error.ts";

const refusedToken =
  /authentication failed|could not read (username|password)|HTTP Basic: access denied|HTTP 401|error: 401/i;

/** What git prints, in English, when a server did not do what was asked. The first that fits decides. */
const sayings: readonly (readonly [RegExp, RemoteErrorKind])[] = [
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

/** Why the server did not do it. All that is not known to be for good is worth another try. */
export function remoteFailure(command: string, stderr: string): RemoteError {
  const kind = sayings.find(([saying]) => saying.test(stderr))?.[1] ?? "unavailable";
  const details = isTokenRefused(stderr) ? { status: 401 } : {};
  return new RemoteError(kind, `git ${command} failed: ${stderr.trim().slice(-1_000)}`, details);
}

/** The server did not let us in with this token. Another one may be good. */
export function isTokenRefused(stderr: string): boolean {
  return refusedToken.test(stderr);
}
