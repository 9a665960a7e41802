import { RemoteError, type RemoteErrorKind } from "../remote-error.ts";

/** What git prints, in English, when a server did not do what was asked. The first that fits decides. */
const sayings: readonly (readonly [RegExp, RemoteErrorKind])[] = [
  [/authentication failed|could not read (username|password)|access denied|HTTP 40[13]|error: 40[13]/i, "denied"],
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
  return new RemoteError(kind, `git ${command} failed: ${stderr.trim().slice(-1_000)}`);
}
