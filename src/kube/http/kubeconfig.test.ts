import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubeconfigFor } from "../../apiserver/kubeconfig.ts";
import type { Connection } from "./connection.ts";
import { fromKubeconfig } from "./kubeconfig.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("a kubeconfig", () => {
  it("leads to the server of its current context, as its user", async () => {
    const text = config({ user: { token: "T" }, cluster: { "certificate-authority-data": base64("CA") } });

    expect(await fromKubeconfig({ text })).toEqual({
      url: "https://one:6443",
      ca: "CA",
      namespace: "team",
      credentials: { token: "T" },
    });
  });

  it("leads to the server of another context on request", async () => {
    const { url, credentials } = await fromKubeconfig({ text: config({ user: { token: "T" } }), context: "other" });

    expect(url).toBe("https://two:6443/behind/a/proxy");
    expect(credentials).toEqual({});
  });

  it("may be YAML", async () => {
    const text = [
      "current-context: me",
      "contexts: [{ name: me, context: { cluster: here, user: me } }]",
      "clusters:",
      "- { name: here, cluster: { server: http://here:8080, insecure-skip-tls-verify: true, tls-server-name: there } }",
      "users: [{ name: me, user: { username: u, password: p } }]",
    ].join("\n");

    expect(await fromKubeconfig({ text })).toEqual({
      url: "http://here:8080",
      insecureSkipTlsVerify: true,
      serverName: "there",
      credentials: { basic: { username: "u", password: "p" } },
    });
  });

  it("names files relative to itself", async () => {
    for (const [name, content] of Object.entries({ ca: "CA", cert: "CERT", key: "KEY" })) {
      await writeFile(join(folder, `${name}.pem`), content);
    }
    const path = join(folder, "config");
    const user = { "client-certificate": "cert.pem", "client-key": "key.pem" };
    await writeFile(path, config({ user, cluster: { "certificate-authority": "ca.pem" } }));

    const { ca, credentials } = await fromKubeconfig({ path });

    expect(ca).toBe("CA");
    expect(credentials).toEqual({ cert: "CERT", key: "KEY" });
  });

  it("names a token file that is read again", async () => {
    const path = join(folder, "token");
    await writeFile(path, "one");
    const connection = await fromKubeconfig({ text: config({ user: { token: "stale", tokenFile: path } }) });

    const first = await credentialsOf(connection);
    await writeFile(path, "two");

    expect(first).toEqual({ token: "one" });
    expect(await credentialsOf(connection, { refused: true })).toEqual({ token: "two" });
  });

  it("of an embedded server gives its token, and keeps the password out of the address", async () => {
    const text = kubeconfigFor({ url: "http://127.0.0.1:8080", token: "s/3" });

    expect(await fromKubeconfig({ text })).toMatchObject({
      url: "http://127.0.0.1:8080",
      credentials: { token: "s/3" },
    });
  });

  it("with a password in the address alone shows that", async () => {
    const text = config({ cluster: { server: "http://u:p%2F@one:80" } });

    const { url, credentials } = await fromKubeconfig({ text });

    expect(url).toBe("http://one");
    expect(credentials).toEqual({ basic: { username: "u", password: "p/" } });
  });

  it("may ask to act for somebody else", async () => {
    const text = config({ user: { token: "T", as: "eve", "as-groups": ["g"] } });

    expect((await fromKubeconfig({ text })).credentials).toMatchObject({ impersonate: { user: "eve", groups: ["g"] } });
  });
});

describe("a kubeconfig with a plugin", () => {
  it("shows the token that the plugin prints, and asks it again when that is refused", async () => {
    const connection = await fromKubeconfig({ text: config({ user: { exec: await plugin(), as: "eve" } }) });

    const [one, again] = [await credentialsOf(connection), await credentialsOf(connection)];
    const next = await credentialsOf(connection, { refused: true });

    expect(one).toEqual({ token: "token-1", impersonate: { user: "eve", groups: [] } });
    expect(again).toEqual(one);
    expect(next).toMatchObject({ token: "token-2" });
  });

  it("never repeats what a failing plugin prints", async () => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", "echo s3cret"] };
    const connection = await fromKubeconfig({ text: config({ user: { exec } }) });

    const error = await credentialsOf(connection).catch((cause: unknown) => cause);

    expect(error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining('user "me"'),
    });
    expect(`${error} ${(error as Error).cause}`).not.toContain("s3cret");
  });
});

describe("a kubeconfig that cannot be used", () => {
  it.each<[string, string, string]>([
    ["a broken line", "a: b\ntoken: 's3cret\nc: d", "kubeconfig: not valid YAML at line"],
    ["a scalar", "s3cret", "kubeconfig: the file is not a mapping"],
    ["a number for a token", config({ user: { token: 5 } }), 'kubeconfig: token of user "me" is not a string'],
    ["no current context", "clusters: null", "kubeconfig: no context is chosen"],
    ["a context that is not there", "current-context: nowhere", 'kubeconfig: there is no context "nowhere"'],
    ["a server that is no URL", config({ cluster: { server: "one:s3cret@" } }), "the server of the cluster"],
    ["a proxy", config({ cluster: { "proxy-url": "http://u:s3cret@proxy" } }), "proxy-url is not supported"],
    ["a file that is not there", config({ cluster: { "certificate-authority": "/nope" } }), "/nope cannot be read"],
  ])("because of %s says so, and no secret", async (_why, text, message) => {
    const error = await fromKubeconfig({ text }).catch((cause: unknown) => cause);

    expect(error).toMatchObject({ name: "KubeError", code: "invalid", message: expect.stringContaining(message) });
    expect(`${error} ${JSON.stringify(error)}`).not.toContain("s3cret");
  });
});

function credentialsOf({ credentials }: Connection, { refused = false } = {}) {
  return typeof credentials === "function" ? credentials({ now: 0, refused }) : Promise.resolve(credentials);
}

function config({ user = {}, cluster = {} }: { user?: object; cluster?: object }): string {
  return JSON.stringify({
    "current-context": "mine",
    contexts: [
      { name: "mine", context: { cluster: "one", user: "me", namespace: "team" } },
      { name: "other", context: { cluster: "two", user: "nobody" } },
    ],
    clusters: [
      { name: "one", cluster: { server: "https://one:6443", ...cluster } },
      { name: "two", cluster: { server: "https://two:6443/behind/a/proxy/" } },
    ],
    users: [
      { name: "me", user },
      { name: "nobody", user: null },
    ],
  });
}

/** Prints token-1, then token-2, and so on. */
async function plugin() {
  const counter = join(folder, "count");
  await writeFile(counter, "");
  const credential = `{"kind":"ExecCredential","status":{"token":"token-'"$(wc -c < ${counter} | tr -d ' ')"'"}}`;
  const args = ["-c", `printf x >> ${counter}; printf '%s' '${credential}'`];
  return { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
