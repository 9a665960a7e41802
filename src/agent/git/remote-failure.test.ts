import { describe, expect, it } from "vitest";
import { isTokenRefused, remoteFailure } from "./remote-failure.ts";

describe("a message of git", () => {
  it.each([
    ["fatal: Authentication failed for 'https://h/a.git/'", "denied"],
    ["fatal: could not read Username for 'https://h': terminal prompts disabled", "denied"],
    ["error: The requested URL returned error: 403", "denied"],
    ["remote: GitLab: You are not allowed to push code to protected branches on this project.", "denied"],
    ["remote: The project you were looking for could not be found or you don't have permission to view it.", "missing"],
    ["fatal: repository 'https://h/a.git/' not found", "missing"],
    ["fatal: couldn't find remote ref refs/heads/x", "missing"],
    ["fatal: remote error: upload-pack: not our ref 1111", "missing"],
    ["error: Server does not allow request for unadvertised object 1111", "missing"],
    ["! [remote rejected] x -> x (pre-receive hook declined)", "refused"],
    ["fatal: transport 'ext' not allowed", "refused"],
    ["error: The requested URL returned error: 302", "refused"],
    ["fatal: unable to access 'https://h/': The requested URL returned error: 502", "unavailable"],
    ["fatal: unable to access 'https://h/': Could not resolve host: h", "unavailable"],
    ["fatal: early EOF", "unavailable"],
    ["", "unavailable"],
  ])("%j is of the kind %s", (stderr, kind) => {
    expect(remoteFailure("fetch", stderr)).toMatchObject({ name: "RemoteError", kind });
  });

  it.each([
    ["remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://h/a.git/'", true],
    ["fatal: could not read Username for 'https://h': terminal prompts disabled", true],
    ["fatal: unable to access 'https://h/': The requested URL returned error: 401", true],
    ["error: The requested URL returned error: 403", false],
    ["remote: GitLab: You are not allowed to push code to protected branches on this project.", false],
    ["fatal: early EOF", false],
  ])("%j shows a rejected token: %s", (stderr, isRefused) => {
    expect(isTokenRefused(stderr)).toBe(isRefused);
    expect(remoteFailure("fetch", stderr).status).toBe(isRefused ? 401 : undefined);
  });
});
